"use strict";
// The only script of the page; its hash is in the policy. It reads the page's own elements and loads nothing.
(() => {
  const by = (id) => document.getElementById(id);
  const cells = [...document.querySelectorAll("article")];
  const texts = cells.map((cell) => cell.textContent.toLocaleLowerCase());
  const search = by("search"), branch = by("branch"), found = by("found");
  document.documentElement.classList.add("scripted");

  const above = new Map(cells.map((cell) => [cell.id, cell.dataset.parent || ""]));
  const pathOf = (id) => {
    const path = new Set();
    for (let at = id; at && !path.has(at); at = above.get(at)) path.add(at);
    return path;
  };
  const show = () => {
    const words = search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const path = branch && branch.value ? pathOf(branch.value) : null;
    let count = 0;
    cells.forEach((cell, at) => {
      const fits = (!path || path.has(cell.id)) && words.every((word) => texts[at].includes(word));
      cell.hidden = !fits;
      if (fits) count += 1;
    });
    document.querySelectorAll("section").forEach((part) => {
      part.hidden = !part.querySelector("article:not([hidden])");
    });
    found.textContent = words.length || path ? `${count} of ${cells.length} messages` : "";
  };
  search.addEventListener("input", show);
  if (branch) branch.addEventListener("change", show);
  window.addEventListener("hashchange", () => {
    const cell = by(location.hash.slice(1));
    if (!cell || !cell.hidden) return;
    search.value = "";
    if (branch) branch.value = "";
    show();
    cell.scrollIntoView();
  });

  by("download").addEventListener("click", async () => {
    const packed = Uint8Array.from(atob(by("forky-chat").textContent.trim()), (sign) => sign.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const url = URL.createObjectURL(await new Response(stream).blob());
    const link = document.createElement("a");
    link.href = url;
    link.download = by("download").dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  });
})();
