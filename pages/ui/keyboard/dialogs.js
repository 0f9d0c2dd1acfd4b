// The palette and the dialog of keys. Names of branches and conversations are only ever set as text.

const MOST = 80; // Lines that are drawn.
const PREFERENCE = "forky.keys";
const mac = /mac|iphone|ipad/i.test(navigator.userAgentData?.platform ?? navigator.platform ?? "");
const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const TYPING = 200, FEWEST = 3; // Milliseconds without a letter until it is searched; letters that are searched for.
let root = null, searching = 0, ask = () => {}, places = {}, lines = [], fitting = [], active = 0;

function singles() {
  try { return localStorage.getItem(PREFERENCE) !== "off"; } catch { return true; }
}
function setSingles(on) {
  try { if (on) localStorage.removeItem(PREFERENCE); else localStorage.setItem(PREFERENCE, "off"); } catch { /* Storage is refused. */ }
}

function piece(kind, name, text) {
  const made = document.createElement(kind);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function keycaps(key) {
  const made = piece("span", "caps");
  for (const [at, part] of (key.length > 1 ? key.split("+") : [key]).entries()) {
    if (at) made.append(" ");
    made.append(piece("kbd", "", mac ? { Ctrl: "⌘", Shift: "⇧" }[part] ?? part : part));
  }
  return made;
}

// Every verb that is possible here and every place there is: name, kind, key, what it does.
function collect() {
  const found = [], taken = new Set();
  for (const verb of VERBS) {
    const way = wayOf(verb);
    if (verb.name === "Find a message, a chat or a verb") continue;
    for (const steps of verb.ways) {
      if (steps[0].do !== "press") continue;
      for (const one of all(steps[0])) taken.add(one);
    }
    if (way) found.push({ name: verb.name, kind: way[0].do === "page" ? "page" : "", key: verb.key, run: () => carryOut(way) });
  }
  const acts = window.__forkyActs;
  if (cells().length && acts?.menu) {
    for (const [act, , label, way] of acts.menu) {
      if (act === "fork" || act.startsWith("ways-")) continue;
      const ways = ["more", way].filter(Boolean), [more, ...rest] = [...ways, act].map((one, at) => ({ do: at ? "press" : "message", what: `${at ? ".fk-menu " : ""}[data-act="${one}"]` }));
      found.push({ name: label, kind: "this message", run: () => carryOut([more, ...rest]) });
    }
  }
  for (const one of document.querySelectorAll(".stMain button")) {
    const group = one.closest("[role=radiogroup]"), host = one.closest(".stElementContainer");
    if (taken.has(one) || !seen(one) || !host || one.closest(`${CELL}, .stHtml, [data-testid=stCode]`)) continue;
    if (group && one.getAttribute("aria-checked") === "true") continue;
    const name = named(one);
    if (!name) continue;
    found.push({ name: group?.getAttribute("aria-label") ? `${group.getAttribute("aria-label")}: ${name}` : name, kind: "on this page", run: () => one.click() });
  }
  const opened = new Set(VERBS.flatMap((verb) => verb.ways).filter((way) => way.length === 1 && way[0].do === "page").map(([step]) => step.what));
  for (const [title, page] of places.pages ?? []) if (!opened.has(page)) found.push({ name: title, kind: "page", run: () => carryOut([{ do: "page", what: page }]) });
  for (const branch of places.branches ?? [])
    found.push({ name: branch, kind: branch === places.now ? "branch, this one" : "branch", run: () => ask({ branch }) });
  // Messages that hold the words that were typed.
  const words = palette().open ? one(".palette input").value.trim() : "";
  for (const [conversation, message, text, title] of words && places.words === words ? places.hits : [])
    found.push({ name: text, kind: title, words, run: () => ask({ conversation, message }) });
  for (const [conversation, title, where] of places.conversations ?? []) found.push({ name: title, kind: "conversation", where, run: () => ask({ conversation }) });
  return found;
}

// How well a name fits what was typed: the lower the better, 9 not at all.
function fit(line, typed) {
  if (line.words) return line.words === one(".palette input").value.trim() ? 4 : 9;
  const name = folded(line.name);
  if (name.startsWith(typed)) return 0;
  const words = typed.split(/\s+/);
  if (words.every((word) => name.split(/[\s/_-]+/).some((part) => part.startsWith(word)))) return 1;
  if (words.every((word) => name.includes(word))) return 2;
  const where = folded(line.where ?? ""); // Asked for as “folder:sea” or “program:aider”.
  return words.every((word) => `${name} ${line.kind} ${word.includes(":") ? where : ""}`.includes(word)) ? 3 : 9;
}

const one = (selector) => root.querySelector(selector);
const palette = () => one("dialog.palette");

// A browser leaves the focus in what it hides until it draws again, and the key that follows would still be the dialog's.
function shut(dialog) {
  dialog.close();
  const focused = root.getRootNode().activeElement;
  if (dialog.contains(focused)) focused.blur();
}

function filter() {
  const typed = folded(one(".palette input").value.trim());
  fitting = typed
    ? lines.map((line, at) => [fit(line, typed), at, line]).filter(([how]) => how < 9).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , line]) => line)
    : lines;
  if (typed) {
    const words = one(".palette input").value.trim();
    fitting = [...fitting, { name: `Search all conversations for “${words}”`, kind: "", run: () => search(words) }];
  }
  active = 0;
  draw();
  one(".palette .said").textContent = fitting.length === 1 ? "1 line" : `${fitting.length} lines`;
}

function draw() {
  const list = one(".palette .list");
  list.replaceChildren(...fitting.slice(0, MOST).map((line, at) => {
    const row = piece("div", line.words ? "row hit" : "row");
    row.id = `found-${at}`;
    row.dataset.at = at;
    row.setAttribute("role", "option");
    row.append(piece("span", "name", line.name));
    if (line.kind) row.append(piece("span", "kind", line.kind));
    if (line.key) row.append(keycaps(line.key));
    return row;
  }));
  list.hidden = !fitting.length;
  one(".palette .none").hidden = fitting.length > 0;
  mark(active);
}

function mark(at) {
  const rows = [...one(".palette .list").children];
  active = Math.max(0, Math.min(at, rows.length - 1));
  for (const [here, row] of rows.entries()) row.setAttribute("aria-selected", String(here === active));
  rows[active]?.scrollIntoView({ block: "nearest" });
  one(".palette input").setAttribute("aria-activedescendant", rows[active]?.id ?? "");
}

function choose(at) {
  const line = fitting[at];
  if (!line) return;
  shut(palette());
  setTimeout(() => line.run()); // When the focus is back where it was.
}

async function search(words) {
  await carryOut([{ do: "page", what: "library" }, { do: "focus", what: ".st-key-library-search input" }]);
  const field = document.querySelector(".st-key-library-search input");
  if (!field) return;
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, words);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function show(which) {
  if (which === "keys") { showKeys(); return; }
  if (which === "tour") { ask({ tour: "begin" }); return; }
  if (!root || palette().open) return;
  lines = collect();
  one(".palette input").value = "";
  palette().showModal();
  filter();
  one(".palette input").focus();
  ask({ open: Date.now() });
}

// What the server says while the palette is open: branches and conversations.
function placesCame() {
  if (!root || !palette().open) return;
  const chosen = fitting[active]?.name, at = active;
  lines = collect();
  filter();
  const again = fitting.findIndex((line) => line.name === chosen);
  mark(again < 0 || at === 0 ? 0 : again);
}

function showKeys() {
  const list = one(".keys dl");
  list.replaceChildren(...VERBS.filter((verb) => verb.key).map((verb) => {
    const row = piece("div"), term = piece("dt");
    term.append(keycaps(verb.key));
    row.append(term, piece("dd", "", verb.name));
    return row;
  }));
  one(".keys input").checked = singles();
  one("dialog.keys").showModal();
}

function heardInPalette(event) {
  const page = Math.max(1, Math.floor(one(".palette .list").clientHeight / 40) - 1);
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
  if (by) {
    const last = Math.min(fitting.length, MOST) - 1, next = active + by;
    mark(Math.abs(by) > 1 ? next : next < 0 ? last : next > last ? 0 : next);
  } else if (event.key === "Enter") choose(active);
  else return;
  event.preventDefault();
}

function setUp(parent) {
  if (root === parent) return;
  root = parent;
  const input = one(".palette input");
  input.addEventListener("input", () => {
    filter();
    clearTimeout(searching);
    const words = input.value.trim();
    if (words.length >= FEWEST) searching = setTimeout(() => { if (palette().open) ask({ find: words }); }, TYPING);
  });
  input.addEventListener("keydown", heardInPalette);
  one(".palette .list").addEventListener("click", (event) => { const row = event.target.closest(".row"); if (row) choose(+row.dataset.at); });
  one(".palette .list").addEventListener("pointermove", (event) => {
    const row = event.target.closest(".row");
    if (row && (event.movementX || event.movementY) && +row.dataset.at !== active) mark(+row.dataset.at);
  });
  one(".keys .tour").addEventListener("click", () => { one("dialog.keys").close(); show("tour"); });
  one(".keys input").addEventListener("change", (event) => setSingles(event.target.checked));
  for (const dialog of root.querySelectorAll("dialog")) {
    dialog.querySelector(".close").addEventListener("click", () => shut(dialog));
    dialog.addEventListener("click", (event) => { if (event.target === dialog) shut(dialog); });
    dialog.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      shut(dialog);
    });
    // Streamlit's keys are for its page.
    for (const kind of ["keydown", "keypress", "keyup"]) dialog.addEventListener(kind, (event) => event.stopPropagation());
  }
}

// The sidebar's Search opens the palette.
function beginFinding() {
  const find = () => show("palette");
  addEventListener("forky-find", find);
  return () => removeEventListener("forky-find", find);
}
