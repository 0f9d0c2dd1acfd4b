// The table of an experiment. Text is only ever set as textContent: it was written by models and people.
const SVG = "http://www.w3.org/2000/svg";
const SIGNS = { pass: "✓", fail: "✗", plain: "·", running: "●", failed: "!", waiting: "" };
const WORDS = { pass: "passes", fail: "does not pass", plain: "no verdict", running: "is being answered",
  failed: "failed", waiting: "not asked" };

function piece(kind, name, text) {
  const made = document.createElement(kind);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function shape(kind, attributes) {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function range(rate, colors) {
  const x = (share) => 4 + 92 * share;
  const svg = shape("svg", { viewBox: "0 0 100 16", "aria-hidden": "true" });
  svg.append(shape("line", { x1: 4, x2: 96, y1: 8, y2: 8, stroke: colors.border, "stroke-width": 1.5 }));
  for (const at of [0, .5, 1])
    svg.append(shape("line", { x1: x(at), x2: x(at), y1: 5, y2: 11, stroke: colors.border, "stroke-width": 1.5 }));
  svg.append(shape("line", { x1: x(rate[1]), x2: x(rate[2]), y1: 8, y2: 8, stroke: colors.accent, "stroke-width": 5,
    "stroke-linecap": "round", opacity: .35 }));
  svg.append(shape("circle", { cx: x(rate[0]), cy: 8, r: 4.6, fill: colors.accent }));
  return svg;
}

function button(at, what, tell) {
  const made = document.createElement("button");
  made.type = "button";
  made.tabIndex = -1;
  made.dataset.at = at;
  made.onclick = () => tell(what);
  return made;
}

function columnHead(column, at, colors, tell) {
  const made = button(at, { kind: "column", column: column.id }, tell);
  made.append(piece("span", "label", column.label));
  if (column.rate) {
    const passes = piece("div", "passes");
    passes.append(range(column.rate, colors), piece("span", "", column.passes));
    made.append(passes);
  }
  made.append(piece("div", "facts", column.facts));
  if (column.failed) made.append(piece("div", "open", column.failed));
  if (column.open) made.append(piece("div", "facts", column.open));
  made.title = "Change this column, or ask it again";
  return made;
}

function cell(entry, at, tell) {
  const made = button(at, { kind: "cell", row: entry.row, column: entry.column, sample: entry.sample }, tell);
  made.className = entry.state;
  made.append(piece("span", "sign", SIGNS[entry.state]), piece("span", "words", entry.text));
  if (entry.marked !== null) made.append(piece("span", "marked", entry.marked ? "marked good" : "marked bad"));
  made.title = entry.hint;
  made.setAttribute("aria-label", `${WORDS[entry.state]}: ${entry.text}`);
  return made;
}

function rowHead(row, at, tell) {
  const made = button(at, { kind: "row", row: row.id }, tell);
  const words = piece("span", "words");
  words.append(piece("span", "number", row.id), document.createTextNode(row.title));
  made.append(words);
  made.title = "Change this row, or ask it again";
  return made;
}

/** What was drawn before for the same content is kept, so that a focused cell stays focused while others change. */
function kept(store, place, content, draw) {
  const text = JSON.stringify(content), before = store.get(place);
  if (before && before.text === text) return before.made;
  const made = draw();
  store.set(place, { text, made });
  return made;
}

export default function (component) {
  const { data: [data], parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".grid");
  const held = root.held ?? (root.held = { store: new Map(), at: "0:0", colors: "", n: 0 });
  const active = root.getRootNode().activeElement?.dataset?.at;
  const tell = (what) => { held.n += 1; setTriggerValue("open", { ...what, n: held.n }); };
  const colors = JSON.stringify(data.colors) + data.of;
  if (colors !== held.colors) { held.store.clear(); held.colors = colors; }
  for (const [name, value] of Object.entries(data.colors)) root.style.setProperty(`--${name}`, value);
  root.style.setProperty("--height", data.height);

  let frame = root.querySelector(".frame");
  if (!frame) {
    frame = piece("div", "frame");
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "Every answer. Arrow keys move, Enter opens.");
    frame.append(document.createElement("table"));
    root.append(frame);
  }
  const { scrollLeft, scrollTop } = frame;
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  const corner = piece("th", "corner", data.corner);
  corner.scope = "col";
  head.append(corner);
  let place = 1;
  data.columns.forEach((column) => {
    const th = piece("th", "column");
    th.scope = "colgroup";
    th.colSpan = column.samples;
    const at = `0:${place}`;
    th.append(kept(held.store, at, column, () => columnHead(column, at, data.colors, tell)));
    head.append(th);
    place += column.samples;
  });
  data.rows.forEach((row, number) => {
    const tr = body.insertRow(), th = document.createElement("th"), y = number + 1;
    th.scope = "row";
    th.append(kept(held.store, `${y}:0`, [row.id, row.title], () => rowHead(row, `${y}:0`, tell)));
    tr.append(th);
    row.cells.forEach((entry, x) => {
      const td = tr.insertCell(), at = `${y}:${x + 1}`;
      td.append(kept(held.store, at, entry, () => cell(entry, at, tell)));
    });
  });
  frame.replaceChildren(table);
  frame.scrollLeft = scrollLeft;
  frame.scrollTop = scrollTop;

  const find = (at) => frame.querySelector(`button[data-at="${at}"]`);
  const choose = (at, focus) => {
    const next = find(at);
    if (!next) return false;
    const before = find(held.at);
    if (before) before.tabIndex = -1;
    held.at = at;
    next.tabIndex = 0;
    if (focus) next.focus();
    return true;
  };
  if (!choose(held.at, active !== undefined && active === held.at)) choose("1:1", false) || choose("0:1", false);
  frame.onfocusin = (event) => { const at = event.target?.dataset?.at; if (at) choose(at, false); };
  frame.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    const [y, x] = held.at.split(":").map(Number);
    let to = `${y + step[0]}:${x + step[1]}`;
    if (y + step[0] === 0 && step[0] && !find(to)) to = [...Array(x + 1).keys()].reverse().map((n) => `0:${n}`).find(find) ?? to;
    if (choose(to, true)) event.preventDefault();
  };
}
