"use strict";
(() => {
  document.documentElement.classList.add("scripted");
  const search = document.getElementById("search"), show = document.getElementById("show"), found = document.getElementById("found");
  const rows = [...document.querySelectorAll("#grid tbody tr")];
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = words.length ? row.textContent.toLowerCase() : "";
      const kind = show.value;
      const fits = words.every((word) => text.includes(word))
        && (!kind || (kind === "differ" ? row.dataset.differ === "1" : row.querySelector(`td.${kind}`) !== null));
      row.hidden = !fits;
      shown += fits;
    }
    found.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} rows`;
  };
  search.addEventListener("input", filter);
  show.addEventListener("change", filter);
})();
