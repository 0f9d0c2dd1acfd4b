// The list of rows with its lanes. Text is only ever set as textContent: it was written by models and people. Uses
// dots.js and pointing.js, which come before it.
const ROW = 28, LANE = 14, LEFT = 12, SVG = "http://www.w3.org/2000/svg";

function shape(kind, attributes) {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function piece(kind, name, text) {
  const made = document.createElement(kind);
  made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

const x = (lane) => LEFT + lane * LANE;
const y = (row) => row * ROW + ROW / 2;

function way(edge, rows) {
  const [source, target, lane] = edge;
  const from = rows[source] ? rows[source].lane : lane, to = rows[target] ? rows[target].lane : lane;
  const r = ROW / 2;
  let d = `M${x(from)} ${y(source)}`;
  if (from !== lane) d += ` C${x(lane)} ${y(source)} ${x(lane)} ${y(source)} ${x(lane)} ${y(source) + r}`;
  if (to === lane) return `${d} V${y(target)}`;
  return `${d} V${y(target) - r} C${x(lane)} ${y(target)} ${x(lane)} ${y(target)} ${x(to)} ${y(target)}`;
}

function lanes(data, width) {
  const svg = shape("svg", { width, height: data.rows.length * ROW, "aria-hidden": "true" });
  for (const edge of [...data.edges].sort((a, b) => a[5] - b[5]))
    svg.append(shape("path", { d: way(edge, data.rows), fill: "none", stroke: edge[3],
      "stroke-width": edge[5] ? 2.2 : 1.4, "stroke-dasharray": edge[4] ? "3 3" : "none" }));
  data.rows.forEach((row, at) => {
    const cx = x(row.lane), cy = y(at), stroke = row.current ? data.colors.text : row.ink;
    const fill = row.kind === "fold" || (row.role === "user" && !row.merge) ? data.colors.background : row.ink;
    const look = { fill, stroke, "stroke-width": row.current ? 2.4 : 1.7 };
    const size = row.kind === "fold" ? 2.5 : row.current ? 5.5 : 4.3;
    svg.append(row.merge
      ? shape("path", { ...look, d: `M${cx} ${cy - 6}L${cx + 6} ${cy}L${cx} ${cy + 6}L${cx - 6} ${cy}Z` })
      : shape("circle", { ...look, cx, cy, r: size }));
  });
  return svg;
}

function described(row) {
  if (row.kind === "fold") return [row.text, row.folded && "folded", row.found && `${row.found} found`].filter(Boolean).join(", ");
  const names = row.branches.map((name) => `branch ${name}`).concat(row.tags.map((name) => `tag ${name}`), row.unnamed);
  const extra = [row.current && "current", row.merge && "merge", row.mark && `marked ${row.mark}`,
    row.found && `${row.found} found`, row.folded && `${row.folded} messages folded above`];
  return [row.who, row.text, ...names, ...extra].filter(Boolean).join(", ");
}

function line(row, at, list, width, tell, faint) {
  const made = piece("div", `row ${row.kind}${row.path ? " path" : ""}${row.current ? " current" : ""}${faint ? " faint" : ""}`);
  made.id = `${list.id}-${at}`;
  made.setAttribute("role", "option");
  made.setAttribute("aria-selected", String(row.current));
  made.setAttribute("aria-label", described(row));
  made.style.paddingLeft = `${width}px`;
  made.dataset.row = row.id;
  if (row.mark) made.append(piece("span", "mark", row.mark));
  for (const name of row.branches) {
    const pill = piece("span", "pill", name);
    pill.style.color = row.name;
    made.append(pill);
  }
  for (const name of row.tags) made.append(piece("span", "pill tag", name));
  if (row.unnamed) made.append(piece("span", "pill tag", row.unnamed));
  if (row.answering) made.append(piece("span", "mark", "…"));
  if (row.kind === "message" && row.folded) {
    const count = piece("button", "count", `+${row.folded}`);
    count.tabIndex = -1;
    count.onclick = (event) => { event.stopPropagation(); tell("fold", row.fold); };
    made.append(count);
  }
  if (row.kind === "fold" && row.folded) made.append(piece("span", "bar"));
  if (row.found) made.append(piece("span", "mark", `${row.found} found`));
  made.append(piece("span", "words", (row.kind === "fold" && !row.folded ? "⌃ " : "") + row.text));
  if (row.kind === "message" && !["you", "assistant"].includes(row.who)) made.append(piece("span", "who", row.who));
  made.onclick = (event) => {
    if (row.kind === "fold") tell("fold", row.fold);
    else tell(event.ctrlKey || event.metaKey ? "mark_a" : event.shiftKey ? "mark_b" : "open", row.id);
  };
  made.onpointerenter = (event) => { if (event.pointerType === "mouse") preview.show(previewOf(row), made.getBoundingClientRect(), true); };
  made.onpointerleave = () => preview.hide();
  made.oncontextmenu = (event) => {
    if (row.kind !== "message") return;
    event.preventDefault();
    preview.hide();
    menuOf(row.id, event.clientX, event.clientY, list);
  };
  return made;
}

export default function (component) {
  const { data: [data], parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".twin");
  const held = root.held ?? (root.held = { active: null, scroll: null, shown: null, reader: null });
  const before = root.querySelector(".list");
  const focused = before && root.getRootNode().activeElement === before;
  const scroll = before ? before.scrollTop : null;
  for (const [name, value] of Object.entries(data.colors)) root.style.setProperty(`--${name}`, value);
  const tell = (act, id) => { held.active = id; setTriggerValue("gesture", { act, id }); };

  const list = piece("div", "list");
  list.id = "twin-list";
  list.tabIndex = 0;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label",
    "Messages of the conversation. Enter: go there. A, B: mark. F: fork. M: menu. Right, Left: open and close folds.");
  list.style.maxHeight = `${data.height}px`;
  const width = LEFT + data.lanes * LANE + 2;
  const rows = data.rows.map((row, at) => line(row, at, list, width, tell, data.filtered && !row.found));
  list.append(lanes(data, width), ...rows);
  root.replaceChildren();
  if (data.first) root.append(piece("div", "note", `${data.first} more rows above`));
  root.append(list);
  if (data.later) root.append(piece("div", "note", `${data.later} more rows below`));

  let active = data.rows.findIndex((row) => row.id === held.active);
  const here = data.rows.findIndex((row) => row.current);
  if (active < 0) active = Math.max(here, 0);
  const show = (at) => {
    rows[active]?.classList.remove("active");
    active = Math.min(Math.max(at, 0), rows.length - 1);
    held.active = data.rows[active]?.id;
    rows[active]?.classList.add("active");
    list.setAttribute("aria-activedescendant", rows[active]?.id ?? "");
    const top = active * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
  };
  if (scroll !== null) list.scrollTop = scroll;
  if (here >= 0 && held.shown !== data.rows[here].id) {
    held.shown = data.rows[here].id;
    list.scrollTop = Math.max(0, here * ROW - list.clientHeight / 2);
  }
  if (rows.length) { rows[active].classList.add("active"); list.setAttribute("aria-activedescendant", rows[active].id); }
  if (focused) list.focus({ preventScroll: true });
  const point = () => preview.show(previewOf(data.rows[active]), rows[active].getBoundingClientRect());
  list.onblur = () => preview.hide();
  const read = (id) => {
    for (const row of rows) row.classList.remove("reading");
    const at = data.rows.findIndex((row) => row.id === id || row.id === data.read[id]);
    if (at >= 0) rows[at].classList.add("reading");
  };
  held.reader?.end();
  held.reader = followReading(read);

  // Who else is here, at the end of the row that they look at.
  const meet = (others) => {
    for (const dot of list.querySelectorAll(".dot")) dot.remove();
    for (const one of others) {
      const at = data.rows.findIndex((row) => row.id === one.message || row.id === data.read[one.message]);
      if (at < 0) continue;
      const dot = piece("span", "dot", initials(one.name));
      dot.style.background = colorOf(one.person);
      dot.title = `${one.name} is here`;
      rows[at].append(dot);
    }
  };
  held.unfollow?.();
  held.unfollow = followPeople(meet);

  list.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = data.rows[active];
    const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
    const moves = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: rows.length - 1,
      PageDown: active + page, PageUp: active - page, j: active + 1, k: active - 1 };
    if (event.key in moves && rows.length) { show(moves[event.key]); point(); }
    else if (!row) return;
    else if (event.key === "Escape" && preview.tip) preview.hide();
    else if (row.kind === "message" && (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey))) {
      const box = rows[active].getBoundingClientRect();
      preview.hide();
      menuOf(row.id, box.left + 24, box.bottom, list);
    }
    else if (event.key === "Enter" || event.key === " ") tell(row.kind === "fold" ? "fold" : "open", row.fold && row.kind === "fold" ? row.fold : row.id);
    else if (event.key === "ArrowRight" && row.fold && row.folded) tell("fold", row.fold);
    else if (event.key === "ArrowLeft") {
      for (let at = active; at >= 0; at--) {
        const above = data.rows[at];
        if (above.kind === "fold" && !above.folded) { tell("fold", above.fold); break; }
        if (above.lane !== row.lane) break;
      }
    } else if (row.kind === "message" && "abf".includes(event.key.toLowerCase()) && event.key.length === 1)
      tell({ a: "mark_a", b: "mark_b", f: "fork" }[event.key.toLowerCase()], row.id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return () => { held.reader?.end(); held.unfollow?.(); preview.hide(); };
}
