const film = read("film"), served = read("served");
if (served) root.classList.add("from-server");
const { rows, edges, frames } = film;
const SCALE = innerWidth >= 1600 ? 1.25 : 1; // For a screen on a wall; the style says so of the type.
const ROW = 34 * SCALE, LANE = 24 * SCALE, LEFT = 24 * SCALE, LETTER = 8.3 * SCALE;
const svg = by("svg"), graph = by("graph"), tall = by("tall"), slider = by("slider"), told = by("told");
const last = frames.length;
const label = (name) => film[name];
const NS = "http://www.w3.org/2000/svg";
const shape = (name, values, text) => {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};
const html = (name, className, text) => {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
};
let fading = 0;
const say = (sentence) => {
  told.textContent = sentence;
  told.classList.add("up");
  clearTimeout(fading);
  fading = setTimeout(() => told.classList.remove("up"), 1800);
};

// The picture at an operation is the one before it with a difference. Every so often it is kept whole, so that a jump
// applies a few differences and not all.
const EVERY = 200;
const keptAt = new Map();
const visible = new Uint8Array(rows.length);
let branches = new Map(), title = "", at = 0, fresh = new Set(), moved = new Set();
keptAt.set(0, { visible: new Uint8Array(rows.length), branches: new Map(), title: "" });
const each = (runs, act) => {
  for (let place = 0; place < runs.length; place += 2) for (let row = runs[place]; row < runs[place] + runs[place + 1]; row += 1) act(row);
};
const apply = (frame) => {
  fresh = new Set();
  each(frame[4], (row) => { visible[row] = 1; fresh.add(row); });
  each(frame[5], (row) => { visible[row] = 0; });
  moved = new Set(Object.keys(frame[6]));
  for (const [name, row] of Object.entries(frame[6])) if (row === null) branches.delete(name); else branches.set(name, row);
  if (frame.length > 7) title = frame[7];
};
const reach = (number) => {
  if (number < at) {
    const from = Math.floor(number / EVERY) * EVERY;
    const found = keptAt.get(keptAt.has(from) ? from : 0);
    at = keptAt.has(from) ? from : 0;
    visible.set(found.visible);
    branches = new Map(found.branches);
    title = found.title;
    if (at === number && at > 0) { fresh = new Set(); moved = new Set(Object.keys(frames[at - 1][6])); each(frames[at - 1][4], (row) => fresh.add(row)); }
  }
  while (at < number) {
    apply(frames[at]);
    at += 1;
    if (at % EVERY === 0 && !keptAt.has(at)) keptAt.set(at, { visible: visible.slice(), branches: new Map(branches), title });
  }
};

// Rows that are out of sight leave no gap: a message's place is how many of those above it are in sight.
const place = new Int32Array(rows.length);
let shown = [];
const arrange = () => {
  shown = [];
  for (let row = 0; row < rows.length; row += 1) {
    place[row] = shown.length;
    if (visible[row]) shown.push(row);
  }
};
const x = (lane) => LEFT + LANE * lane;
const y = (position) => ROW * position + ROW / 2 + 8;
const route = ([source, target, lane]) => {
  const top = y(place[source]), bottom = y(place[target]), start = x(rows[source][0]), end = x(rows[target][0]), down = x(lane);
  if (bottom - top <= ROW) { const middle = (top + bottom) / 2; return `M${start} ${top}C${start} ${middle} ${end} ${middle} ${end} ${bottom}`; }
  const turn = ROW / 2;
  return `M${start} ${top}C${start} ${top + turn} ${down} ${top + turn} ${down} ${top + ROW}V${bottom - ROW}C${down} ${bottom - turn} ${end} ${bottom - turn} ${end} ${bottom}`;
};
const draw = () => {
  const from = Math.max(0, Math.floor(graph.scrollTop / ROW) - 4), to = Math.min(shown.length, from + Math.ceil(graph.clientHeight / ROW) + 8);
  const pieces = [], names = new Map();
  for (const [name, row] of branches) if (row >= 0) names.set(row, [...(names.get(row) || []), name]);
  let lanes = 1;
  for (const edge of edges) {
    const [source, target, lane, colour, merge] = edge;
    if (source < 0 || !visible[source] || !visible[target] || place[target] < from || place[source] >= to) continue;
    lanes = Math.max(lanes, lane + 1);
    pieces.push(shape("path", { class: `edge c${colour}${merge ? " dashed" : ""}`, d: route(edge) }));
  }
  for (let position = from; position < to; position += 1) lanes = Math.max(lanes, rows[shown[position]][0] + 1);
  const words = x(lanes) + 4, width = Math.max(graph.clientWidth - 4, 320), most = Math.max(18, Math.floor((width - words) / LETTER));
  for (let position = from; position < to; position += 1) {
    const row = shown[position], [lane, role, merge, author, text, colour] = rows[row], cx = x(lane), cy = y(position);
    const group = shape("g", { class: `row c${colour}${role === 0 ? " user" : ""}${fresh.has(row) ? " fresh" : ""}` });
    group.append(shape("rect", { x: 0, y: cy - ROW / 2 + 1, width, height: ROW - 2, rx: 5 }));
    group.append(merge ? shape("path", { class: "dot", d: `M${cx} ${cy - 8}L${cx + 8} ${cy}L${cx} ${cy + 8}L${cx - 8} ${cy}Z` }) : shape("circle", { class: "dot", cx, cy, r: 5.5 }));
    const line = shape("text", { x: words, y: cy + 5 });
    const mine = (names.get(row) || []).map((name) => name.length > 26 ? `${name.slice(0, 25)}…` : name).join(" ");
    if (mine) line.append(shape("tspan", { class: "name" }, `${mine}  `));
    const who = label("authors")[author], room = most - Math.ceil(1.2 * mine.length) - 2;
    line.append(shape("tspan", { class: "who" }, `${who}  `));
    const rest = Math.max(8, room - who.length - 2);
    line.append(shape("tspan", {}, text.length > rest ? `${text.slice(0, rest - 1)}…` : text));
    group.append(line);
    pieces.push(group);
  }
  svg.replaceChildren(...pieces);
};
const follow = () => {
  const newest = fresh.size ? Math.max(...fresh) : Math.max(-1, ...[...moved].map((name) => branches.get(name) ?? -1));
  const goal = newest >= 0 && visible[newest] ? y(place[newest]) : y(shown.length - 1);
  if (goal > graph.scrollTop + graph.clientHeight - 2 * ROW) graph.scrollTop = goal - graph.clientHeight + 3 * ROW;
  else if (goal < graph.scrollTop + ROW) graph.scrollTop = Math.max(0, goal - 3 * ROW);
};
const many = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
const total = (runs) => { let sum = 0; for (let one = 1; one < runs.length; one += 2) sum += runs[one]; return sum; };
const go = (number, keep = false) => {
  reach(Math.min(Math.max(number, 1), last));
  arrange();
  const frame = frames[at - 1], height = ROW * shown.length + 24;
  tall.style.height = `${height}px`;
  svg.setAttribute("width", Math.max(graph.clientWidth - 4, 320));
  svg.setAttribute("height", height);
  by("verb").textContent = `${at.toLocaleString("en")} · ${label("verbs")[frame[2]]}`;
  by("said").textContent = frame[3];
  const when = frame[0] ? new Date(frame[0] * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "";
  by("when").textContent = [label("actors")[frame[1]], when].filter(Boolean).join(" · ");
  const came = total(frame[4]), went = total(frame[5]);
  by("does").textContent = [came ? `${many(came, "message")} appeared` : "", went ? `${many(went, "message")} went out of sight` : ""].filter(Boolean).join(", ");
  const pills = [...branches].slice(0, 60).map(([name, row]) => html("span", `c${row >= 0 ? rows[row][5] : 0}${moved.has(name) ? " moved" : ""}`, name));
  if (branches.size > 60) pills.push(html("span", "", `and ${branches.size - 60} more`));
  by("branches").replaceChildren(...pills);
  by("count").textContent = `${many(shown.length, "message")} · ${many(branches.size, "branch")} · operation ${at.toLocaleString("en")} of ${last.toLocaleString("en")}`;
  if (title) by("top").firstElementChild.textContent = title;
  around();
  follow(); // Below what is written beside it, which takes room from the graph on a phone.
  draw();
  slider.value = at;
  slider.setAttribute("aria-valuetext", `${at} of ${last}: ${frame[3]}`);
  if (document.activeElement !== by("number")) by("number").value = at;
  if (!keep && playing) stop();
  history.replaceState(null, "", `#${at}`);
};
const around = () => {
  const list = [];
  for (let number = Math.max(1, at - 5); number <= Math.min(last, at + 5); number += 1) {
    const item = document.createElement("li"), button = html("button", number === at ? "here" : number > at ? "later" : "", "");
    button.type = "button";
    button.dataset.number = number;
    button.append(html("span", "", number), html("span", "", frames[number - 1][3]));
    item.append(button);
    list.push(item);
  }
  by("around").replaceChildren(...list);
};

let playing = 0, began = 0, from = 0;
const pace = () => by("pace").value === "film" ? last / 30 : Number(by("pace").value);
const stop = () => {
  cancelAnimationFrame(playing);
  playing = 0;
  root.classList.remove("playing");
  by("play").textContent = "▶";
  by("play").setAttribute("aria-label", "Play");
};
const tick = (now) => {
  const wanted = Math.min(last, from + Math.floor((now - began) / 1000 * pace()));
  if (wanted > at) go(wanted, true);
  if (at >= last) { stop(); return; }
  playing = requestAnimationFrame(tick);
};
const play = () => {
  if (playing) { stop(); return; }
  if (at >= last) go(1);
  began = performance.now();
  from = at;
  root.classList.add("playing");
  by("play").textContent = "❚❚";
  by("play").setAttribute("aria-label", "Pause");
  playing = requestAnimationFrame(tick);
};
const act = {
  play, back: () => go(at - 1), next: () => go(at + 1), first: () => go(1), last: () => go(last),
  backward: () => go(at - 10), forward: () => go(at + 10),
  theme: () => say(nextTheme()), full: fullScreen,
  leave: () => { if (document.fullscreenElement) document.exitFullscreen(); else leave(served?.back || ""); },
};
const KEYS = { " ": "play", ArrowLeft: "back", ArrowRight: "next", PageUp: "backward", PageDown: "forward", Home: "first", End: "last", t: "theme", f: "full", Escape: "leave" };
window.addEventListener("keydown", (event) => {
  const name = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!name || modified(event) || inField(event) || (event.target.closest?.("button") && event.key === " ")) return;
  event.preventDefault();
  act[name]();
});
document.addEventListener("click", (event) => {
  const name = event.target.closest?.("[data-act]")?.dataset.act, number = event.target.closest?.("[data-number]")?.dataset.number;
  if (name) act[name]();
  if (number) go(Number(number));
});
slider.addEventListener("input", () => go(Number(slider.value)));
by("number").addEventListener("change", () => go(Number(by("number").value) || at));
by("pace").addEventListener("change", () => { if (playing) { began = performance.now(); from = at; } });
graph.addEventListener("scroll", draw, { passive: true });
window.addEventListener("resize", () => { if (last) go(at, true); });
window.addEventListener("hashchange", () => go(Number(location.hash.slice(1)) || at));
if (last) go(Number(location.hash.slice(1)) || last);
