// The graph as a map: streamlit-agraph's own page in a frame, spoken to as Streamlit speaks to its components. It draws
// dots, bars and edges once; from then on its network is told only what changed, and asked where the camera is. Words,
// bands and the mark of what is read are drawn on its canvas, so that a row is one target from edge to edge. Uses
// pointing.js, which comes before it.
//
// The frame shares the page's thread, so it is begun when the browser has drawn the page around it, and told of a change
// when the cells beside it are on screen. A frame has none of the page's fonts: it is lent the one that the page is set in.

const KINDS = ["message", "forky:graph"];
const FONT = "Source Sans", FACE = `"${FONT}", "Source Sans 3", system-ui, sans-serif`;
const ROW = 29, LANE = 17, LEFT = 15, EDGE = 8; // Pixels at a scale of 1: of a row, a lane, before the first, above and below.
const SIZE = 14, SMALL = 11, LEGIBLE = 6.5; // Pixels of the type; words that would be smaller than the last are not drawn.
const TOOLS = 40; // Pixels that the buttons take.
const NEAREST = 2.5, STEP = 1.4; // The largest scale, and how much a press of a button changes it.
const DISC = 18, CROWD = 4; // Pixels of the disc of a person who is here, and the most of them at one row.
const FINDS = 600; // Frames that are waited for agraph's network.

const painted = (then) => requestAnimationFrame(() => setTimeout(then));

function fontFile() {
  for (const sheet of document.styleSheets) {
    let rules = [];
    try { rules = sheet.cssRules; } catch { continue; }
    for (const { style } of [...rules].filter((rule) => rule instanceof CSSFontFaceRule)) {
      if (style.getPropertyValue("font-family").replace(/["']/g, "") !== FONT) continue;
      const url = /url\(["']?([^"')]+)/.exec(style.getPropertyValue("src"));
      if (url && style.getPropertyValue("font-style") !== "italic") return new URL(url[1], sheet.href ?? document.baseURI);
    }
  }
  throw new Error("The page has no such font.");
}

async function lendFont(inner) {
  const bytes = await (await fetch(fontFile(), { cache: "force-cache" })).arrayBuffer();
  inner.document.fonts.add(await new inner.FontFace(FONT, bytes, { weight: "100 900" }).load());
}

// The vis-network inside agraph's page, which React keeps in the state of a component.
function networkIn(inner) {
  const container = inner.document.querySelector("#root")?._reactRootContainer;
  const open = [(container?._internalRoot ?? container)?.current];
  while (open.length) {
    const one = open.pop();
    if (!one) continue;
    for (let hook = one.memoizedState; hook && typeof hook === "object" && "next" in hook; hook = hook.next)
      if (typeof hook.memoizedState?.canvasToDOM === "function") return hook.memoizedState;
    open.push(one.sibling, one.child);
  }
  return null;
}

const x = (lane) => LEFT + lane * LANE;
const y = (at) => (at + 0.5) * ROW;

class GraphMap {
  constructor(parent) {
    this.parent = parent;
    this.hovered = this.reading = -1;
    this.box = document.createElement("div");
    this.box.className = "fk-map";
    this.box.setAttribute("role", "region");
    this.box.setAttribute("aria-label", "Graph of the conversation, for the mouse; “List” is for the keyboard");
    this.tools = this.makeTools();
    this.frame = document.createElement("iframe");
    this.frame.title = "Graph of the conversation (streamlit-agraph)";
    this.frame.scrolling = "no";
    this.frame.tabIndex = -1; // A picture for the mouse; the list beside it is for the keyboard.
    this.frame.style.opacity = 0; // An empty frame is white.
    parent.append(this.box);
    this.hear = (event) => this.heard(event.detail ?? event); // See streamlit_patches/early_script.py.
    for (const kind of KINDS) addEventListener(kind, this.hear);
    this.watch = new ResizeObserver(() => this.resized());
    this.unfollow = followPeople((others) => this.meet(others));
    painted(() => {
      if (this.gone) return;
      this.box.append(this.frame, this.tools);
      this.frame.src = this.given.page;
      this.watch.observe(this.box);
    });
  }

  end() {
    this.gone = true;
    this.reader?.end();
    this.unfollow();
    this.watch.disconnect();
    for (const kind of KINDS) removeEventListener(kind, this.hear);
    preview.hide();
    this.box.remove();
  }

  // What agraph's page says: that it is there. Its own clicks know only nodes, and nothing of a second one.
  heard({ source, data }) {
    if (source !== this.frame.contentWindow || data?.type !== "streamlit:componentReady") return;
    const inner = this.frame.contentWindow;
    // A click leaves the keys in the frame, where no shortcut of the page hears them.
    inner.addEventListener("pointerup", () => setTimeout(() => { this.frame.blur(); window.focus(); }));
    (this.lent ??= lendFont(inner).catch(() => {})).then(() => this.begin());
  }

  begin() {
    if (this.gone) return;
    this.size = [this.box.clientWidth || 400, this.box.clientHeight || 300];
    const [nodes, edges] = this.picture();
    this.drawn = { nodes: new Map(nodes.map((one) => [one.id, JSON.stringify(one)])), edges: new Map(edges.map((one) => [one.id, JSON.stringify(one)])) };
    const args = { data: JSON.stringify({ nodes, edges }), config: JSON.stringify(this.options()) };
    this.frame.contentWindow.postMessage(
      { type: "streamlit:render", args, theme: this.given.theme, dfs: [], disabled: false }, location.origin);
    this.find(FINDS);
  }

  find(left) {
    if (this.gone || !left) return;
    const network = networkIn(this.frame.contentWindow);
    if (!network) { requestAnimationFrame(() => this.find(left - 1)); return; }
    this.network = network;
    network.off("doubleClick"); // agraph would open a node's title as a window.
    network.on("beforeDrawing", (ctx) => this.drawBands(ctx));
    network.on("afterDrawing", (ctx) => { this.drawWords(ctx); this.drawPeople(ctx); });
    network.on("click", (event) => this.clicked(event));
    network.on("oncontext", (event) => { event.event.preventDefault(); this.menu(event.pointer); });
    network.on("hold", (event) => { if (event.event.pointerType === "touch") this.menu(event.pointer); });
    for (const kind of ["zoom", "dragging"]) network.on(kind, () => { preview.hide(); queueMicrotask(() => this.keep(...this.camera())); }); // vis-network moves after it says so.
    const inner = this.frame.contentDocument;
    inner.addEventListener("pointerdown", () => window.__forkyActs?.close?.());
    inner.addEventListener("wheel", (event) => this.wheeled(event), { capture: true, passive: false });
    inner.addEventListener("pointermove", (event) => this.moved(event));
    inner.documentElement.addEventListener("pointerleave", () => this.left());
    this.home();
    this.reader = followReading((id) => this.read(id));
    this.show(false);
    requestAnimationFrame(() => { this.home(); this.frame.style.opacity = 1; }); // vis-network fits what it drew first.
  }

  // Who else is here: drawn on the canvas, so that no run of the page and no change of the network is needed.
  meet(others) {
    this.others = others;
    this.place();
    this.network?.redraw();
  }

  // The people at each row, by its number. Somebody at a message inside a folded run is at the row of the run.
  place() {
    this.at = new Map();
    for (const one of this.given ? this.others : []) {
      const at = this.rowOf.get(one.message) ?? this.rowOf.get(this.given.read[one.message]);
      if (at !== undefined) this.at.set(at, [...(this.at.get(at) ?? []), one].slice(0, CROWD));
    }
    this.box.dataset.here = [...this.at].map(([at, people]) => `${people.map((one) => one.name).join(", ")} at ${this.given.rows[at].id}`).join("; ");
  }

  // New rows. What is under the hand keeps its place in the window; what somebody went to comes into sight.
  take(given) {
    const before = this.given;
    this.given = given;
    const tall = given.rows.length * ROW + 2 * EDGE;
    this.box.style.height = `${Math.max(tall, 4 * ROW)}px`;
    this.rowOf = new Map(given.rows.map((row, at) => [row.id, at]));
    this.place();
    if (this.network) painted(() => this.change(before));
  }

  change(before) {
    if (this.gone) return;
    const [left, top, scale] = this.camera(), was = before.rows.findIndex((row) => row.id === this.anchor);
    const now = this.rowOf.get(this.anchor);
    const [nodes, edges] = this.picture();
    this.tell("edges", edges, () => this.tell("nodes", nodes));
    const by = was < 0 || now === undefined ? 0 : (now + this.given.first - was - before.first) * ROW;
    this.keep(left, top + by, scale);
    if (this.here() !== before.rows.find((row) => row.current)?.id) this.show(true);
    this.anchor = this.here();
    this.reader.look();
    this.network.redraw();
  }

  // Only what changed: edges go before their nodes and come after them.
  tell(kind, all, between = () => {}) {
    const set = this.network.body.data[kind], known = this.drawn[kind], next = new Map();
    const changed = all.filter((one) => {
      const text = JSON.stringify(one);
      next.set(one.id, text);
      return known.get(one.id) !== text;
    });
    const lost = [...known.keys()].filter((id) => !next.has(id));
    if (lost.length) set.remove(lost);
    between();
    if (changed.length) set.update(changed);
    this.drawn[kind] = next;
  }

  here() { return this.given.rows.find((row) => row.current)?.id; }

  options() {
    const [width, height] = this.size;
    return {
      width: `${width}px`, height: `${height}px`, autoResize: false,
      physics: { enabled: false }, layout: { hierarchical: { enabled: false }, improvedLayout: false },
      interaction: { dragNodes: false, dragView: true, zoomView: true, hover: false, selectable: false, hideEdgesOnDrag: false },
      nodes: { chosen: false, physics: false, fixed: true },
      edges: { arrows: { to: { enabled: false }, from: { enabled: false }, middle: { enabled: false } }, chosen: false,
        physics: false, smooth: { enabled: false }, selectionWidth: 0 },
    };
  }

  picture() {
    const { rows, edges, first } = this.given, nodes = new Map(), lines = [];
    rows.forEach((row, at) => {
      const dot = this.dot(row, x(row.lane), y(first + at));
      nodes.set(dot.id, dot);
      if (row.kind === "message" && row.folded) {
        const bar = this.bar(row, row.fold, x(row.lane), y(first + at - 0.5), 9);
        nodes.set(bar.id, bar);
      }
    });
    for (const edge of edges) this.route(edge, nodes, lines);
    return [[...nodes.values()], lines];
  }

  faint(row) { return this.given.filtered && !row.found; }

  ink(row) { return this.faint(row) ? this.given.faint : row.ink; }

  dot(row, left, top) {
    const { colors } = this.given, ink = this.ink(row);
    if (row.kind === "fold" && row.folded) return this.bar(row, row.id, left, top, SMALL);
    const hollow = row.kind === "fold" || (row.role === "user" && !row.merge);
    return {
      id: row.id, x: left, y: top, shape: row.merge ? "diamond" : "dot", label: "",
      size: row.kind === "fold" ? 3 : row.current ? 7.5 : 5.5, borderWidth: row.current ? 3 : 1.6,
      color: { background: hollow ? colors.background : ink, border: row.current ? colors.text : ink },
    };
  }

  // A fold: a bar with the number of messages in it.
  bar(row, id, left, top, size) {
    const { colors } = this.given, ink = this.ink(row), hit = this.given.filtered && row.found;
    return {
      id, x: left, y: top, shape: "box", label: String(row.folded), borderWidth: 1.3,
      margin: { top: 1.5, bottom: 0.5, left: 4, right: 4 }, shapeProperties: { borderRadius: 5, borderDashes: false }, // An update forgets what is not said again.
      color: { background: hit ? row.name : colors.background, border: ink },
      font: { color: hit ? colors.background : this.faint(row) ? this.given.faint : row.path ? colors.text : colors.quiet, size, face: FACE, multi: false },
    };
  }

  // Straight pieces between unseen points, with a short slope where an edge changes lanes.
  route([source, target, lane, ink, merge, path], nodes, lines) {
    const { rows, first, filtered, faint } = this.given;
    const laneAt = (row) => rows[row]?.lane ?? lane;
    const way = [[laneAt(source), source]];
    if (laneAt(source) !== lane) way.push([lane, source + 0.6]);
    if (laneAt(target) !== lane) way.push([lane, target - 0.6]);
    way.push([laneAt(target), target]);
    const place = (row) => rows[row]?.id ?? `${first + row}`;
    const name = `·${place(source)}-${place(target)}-${lane}-${merge}`;
    const ids = way.map(([of, row], step) => {
      if (rows[row]) return rows[row].id;
      const id = `${name}.${step}`;
      nodes.set(id, { id, x: x(of), y: y(first + row), shape: "dot", size: 0.01, label: "", color: "transparent" });
      return id;
    });
    for (let step = 1; step < ids.length; step++) {
      const id = `${name}.${step}`;
      if (!lines.some((one) => one.id === id))
        lines.push({ id, from: ids[step - 1], to: ids[step], color: filtered ? faint : ink, width: path ? 2.4 : 1.3, dashes: merge ? [3, 4] : false });
    }
  }

  // The camera: what is at the upper left of the window, and the scale.
  camera() {
    const scale = this.network.getScale(), { x: left, y: top } = this.network.getViewPosition(), [width, height] = this.size;
    return [left - width / 2 / scale, top - height / 2 / scale, scale];
  }

  // Below the last row there is room for the buttons, where there are any.
  ends() {
    const { first, rows } = this.given, tall = rows.length * ROW + 2 * EDGE;
    return [first * ROW - EDGE, first * ROW - EDGE + tall + (tall > this.size[1] ? TOOLS : 0)];
  }

  wide() { return this.size[0]; }

  farthest() {
    const [top, bottom] = this.ends();
    return Math.min(1, this.size[1] / (bottom - top));
  }

  // There is nothing beyond the first and the last row, and words begin at the left.
  keep(left, top, wanted) {
    const [width, height] = this.size, [start, end] = this.ends();
    const scale = Math.min(NEAREST, Math.max(this.farthest(), wanted));
    const from = Math.max(0, Math.min(left, this.wide() - width / scale));
    const down = (end - start) * scale <= height ? start : Math.max(start, Math.min(top, end - height / scale));
    this.move(from, down, scale);
    this.tools.hidden = this.farthest() === 1 && scale === 1;
  }

  move(left, top, scale) {
    const [width, height] = this.size;
    this.network.moveTo({ position: { x: left + width / 2 / scale, y: top + height / 2 / scale }, scale, animation: false });
  }

  home() {
    const at = this.rowOf.get(this.here()) ?? this.given.rows.length - 1;
    this.keep(0, y(this.given.first + at) - this.size[1] / 2, 1);
  }

  whole() { this.keep(0, this.ends()[0], this.farthest()); }

  zoom(by) {
    const [left, top, scale] = this.camera(), half = this.size[1] / 2, now = Math.min(NEAREST, Math.max(this.farthest(), scale * by));
    this.keep(left, top + half / scale - half / now, now);
  }

  // Brings a row into sight, as little as it takes.
  show(gently, at = this.rowOf.get(this.here())) {
    if (at === undefined) return;
    const [left, top, scale] = this.camera(), height = this.size[1] / scale, row = y(this.given.first + at);
    if (row >= top + ROW / 2 && row <= top + height - ROW / 2) return;
    this.keep(left, gently ? row - height / 2 : row - height * 0.4, scale);
  }

  resized() {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (!width || !height) return;
    Object.assign(this.frame.style, { width: `${width}px`, height: `${height}px` });
    if (!this.network || (this.size[0] === width && this.size[1] === height)) return;
    const [left, top, scale] = this.camera();
    this.size = [width, height];
    this.network.setSize(`${width}px`, `${height}px`);
    this.keep(left, top, scale); // Nothing moves when the card of a message takes room and gives it back.
    this.show(true, this.rowOf.get(this.anchor)); // What was clicked may not be the current row yet.
    this.network.redraw();
  }

  // The row at a height of the canvas, from edge to edge; −1 where there is none.
  rowAt(top) {
    const at = Math.floor(top / ROW) - this.given.first;
    return at >= 0 && at < this.given.rows.length ? at : -1;
  }

  clicked({ pointer, event }) {
    const { x: left, y: top } = pointer.canvas, near = Math.round(top / ROW), above = this.given.rows[near - this.given.first];
    const onBar = above?.kind === "message" && above.folded && Math.abs(top - near * ROW) < 7 && Math.abs(left - x(above.lane)) < 10;
    const row = onBar ? above : this.given.rows[this.rowAt(top)];
    if (!row) return;
    preview.hide();
    this.anchor = row.id;
    const keys = event.srcEvent ?? {};
    if (onBar || row.kind === "fold") this.send("fold", row.fold);
    else this.send(keys.ctrlKey || keys.metaKey ? "mark_a" : keys.shiftKey ? "mark_b" : "open", row.id);
  }

  menu(pointer) {
    const row = this.given.rows[this.rowAt(this.network.DOMtoCanvas(pointer.DOM).y)], box = this.frame.getBoundingClientRect();
    if (row?.kind !== "message") return;
    preview.hide();
    this.anchor = row.id;
    menuOf(row.id, box.left + pointer.DOM.x, box.top + pointer.DOM.y, null);
  }

  // The wheel zooms, which agraph does; with Shift, or sideways, it moves.
  wheeled(event) {
    if (!event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault(); event.stopPropagation();
    const [left, top, scale] = this.camera();
    this.keep(left, top + (event.deltaY || event.deltaX) / scale, scale);
  }

  moved(event) {
    const { x: across, y: down } = this.network.DOMtoCanvas({ x: event.clientX, y: event.clientY });
    const at = event.buttons ? -1 : this.rowAt(down), spot = at < 0 ? "" : this.spotAt(at, across);
    this.frame.contentDocument.body.style.cursor = event.buttons ? "grabbing" : at < 0 ? "grab" : "pointer";
    if (at === this.hovered && spot === this.spot) return;
    this.hovered = at;
    this.spot = spot;
    this.network.redraw();
    preview.hide();
    if (at < 0 || event.pointerType === "touch") return;
    const box = this.frame.getBoundingClientRect(), top = box.top + this.network.canvasToDOM({ x: 0, y: y(this.given.first + at) }).y;
    const half = (ROW / 2) * this.network.getScale();
    preview.show(this.previewAt(at, spot), { left: box.left + this.indent(event), top: top - half, bottom: top + half }, true);
  }

  spotAt(at) { return this.given.rows[at].id; }

  previewAt(at) { return previewOf(this.given.rows[at]); }

  indent() { return 24; }

  left() {
    if (this.hovered >= 0) { this.hovered = -1; this.network.redraw(); }
    preview.hide();
  }

  // Where one reads in the notebook. The map follows, unless somebody is pointing at it.
  read(id) {
    const at = this.rowOf.get(id) ?? this.rowOf.get(this.given.read[id]) ?? -1;
    if (at === this.reading) return;
    this.reading = at;
    this.box.dataset.reading = this.given.rows[at]?.id ?? "";
    if (at >= 0 && this.hovered < 0) this.show(true, at);
    this.network.redraw();
  }

  drawBands(ctx) {
    const { colors, rows, first } = this.given, [left, , scale] = this.camera(), wide = this.size[0] / scale;
    const band = (at, fill, stroke) => {
      if (at < 0 || !rows[at]) return;
      ctx.beginPath();
      ctx.roundRect(left + 2 / scale, (first + at) * ROW + 2, wide - 4 / scale, ROW - 4, 5);
      if (fill) { ctx.fillStyle = fill; ctx.fill(); }
      if (stroke) { ctx.strokeStyle = stroke; ctx.lineWidth = 1 / scale; ctx.stroke(); }
    };
    band(this.hovered, colors.surface);
    const here = this.rowOf.get(this.here()) ?? -1;
    band(here, colors.selected, colors.accent);
    if (this.reading < 0 || !rows[this.reading]) return;
    ctx.fillStyle = colors.accent; // A flag at the left edge.
    const middle = y(first + this.reading), size = Math.min(ROW / 2 - 4, 7 / scale);
    ctx.beginPath();
    ctx.moveTo(left, middle - size); ctx.lineTo(left + size * 0.9, middle); ctx.lineTo(left, middle + size);
    ctx.fill();
  }

  drawWords(ctx) {
    const { rows, first, lanes } = this.given, [left, top, scale] = this.camera(), [width, height] = this.size;
    const from = Math.max(0, this.rowAt(Math.max(top, this.ends()[0] + EDGE))), to = Math.min(rows.length, Math.ceil((top + height / scale) / ROW) - first);
    const legible = SIZE * scale >= LEGIBLE, end = left + width / scale - 8 / scale;
    ctx.save();
    ctx.textBaseline = "middle";
    let free = -Infinity; // Where the next name may stand, in a picture that is too small for words.
    for (let at = from; at < to; at++) {
      const row = rows[at], middle = y(first + at), start = x(lanes) + (legible ? 0 : 2 / scale);
      const room = (this.at.get(at)?.length ?? 0) * (DISC + 3) / Math.min(1, scale);
      if (legible) this.drawRow(ctx, row, start, end - room, middle);
      else if ((row.branches.length || row.current) && middle > free) {
        this.drawNames(ctx, row, start, end, middle, SMALL / scale);
        free = middle + (SMALL + 1) / scale;
      }
    }
    ctx.restore();
  }

  // Discs at the right edge of their rows.
  drawPeople(ctx) {
    const { first, colors } = this.given, [left, , scale] = this.camera(), size = DISC / Math.min(1, scale);
    ctx.save();
    ctx.textAlign = "center"; ctx.textBaseline = "middle";
    ctx.font = `600 ${size * 0.56}px ${FACE}`;
    for (const [at, people] of this.at) {
      people.forEach((one, place) => {
        const across = left + this.size[0] / scale - size * 0.5 - 5 / scale - place * (size + 3 / scale), middle = y(first + at);
        ctx.beginPath();
        ctx.arc(across, middle, size / 2, 0, 2 * Math.PI);
        ctx.fillStyle = colorOf(one.person);
        ctx.strokeStyle = colors.background; ctx.lineWidth = 1.5 / scale;
        ctx.fill(); ctx.stroke();
        ctx.fillStyle = "#fff";
        ctx.fillText(initials(one.name), across, middle + size * 0.04);
      });
    }
    ctx.restore();
  }

  drawRow(ctx, row, start, end, middle) {
    const { colors } = this.given, quiet = this.faint(row);
    const at = this.drawNames(ctx, row, start, end, middle, SIZE);
    const color = quiet ? this.given.faint : row.path ? colors.text : colors.quiet;
    const who = row.kind === "fold" || ["you", "assistant"].includes(row.who) ? "" : `${row.who}: `;
    ctx.font = `${row.kind === "fold" ? "italic " : ""}${SIZE}px ${FACE}`;
    ctx.fillStyle = color;
    ctx.fillText(fitting(ctx, who + row.text, end - at), at, middle + 1);
  }

  // The names of a row, each in a frame, and its marks; returns where the words begin.
  drawNames(ctx, row, start, end, middle, size) {
    const { colors, filtered } = this.given;
    const names = [
      ...[...row.mark].map((sign) => [sign, colors.accent, true]),
      ...row.branches.map((name) => [name, row.name]),
      ...row.tags.map((name) => [`‹${name}›`, colors.quiet]),
      ...(row.unnamed ? [[row.unnamed, colors.quiet]] : []),
      ...(filtered && row.found ? [[`${row.found} found`, row.name, true]] : []),
      ...(row.answering ? [["…", row.name, true]] : []),
    ];
    let at = start;
    ctx.font = `600 ${size * 0.86}px ${FACE}`;
    for (const [name, ink, filled] of names) {
      const most = Math.max(size * 3, (end - start) * 0.4), text = fitting(ctx, name, most), wide = ctx.measureText(text).width + size * 0.8;
      if (at + wide > end) break;
      ctx.beginPath();
      ctx.roundRect(at, middle - size * 0.68, wide, size * 1.36, size * 0.68);
      ctx.fillStyle = filled ? ink : colors.background;
      ctx.strokeStyle = ink; ctx.lineWidth = size / 12;
      ctx.fill(); ctx.stroke();
      ctx.fillStyle = filled ? colors.background : ink;
      ctx.fillText(text, at + size * 0.4, middle + size / 14);
      at += wide + size * 0.4;
    }
    return at;
  }

  makeTools() {
    const tools = document.createElement("div");
    tools.className = "fk-map-tools"; tools.hidden = true;
    tools.setAttribute("role", "group"); tools.setAttribute("aria-label", "The map");
    for (const [icon, label, act] of [
      ["zoom_in", "Zoom in", () => this.zoom(STEP)], ["zoom_out", "Zoom out", () => this.zoom(1 / STEP)],
      ["fit_screen", "The whole tree", () => this.whole()], ["my_location", "To where you are", () => this.home()],
    ]) {
      const made = document.createElement("button");
      made.type = "button"; made.className = "fk-icon"; made.title = label; made.textContent = icon;
      made.setAttribute("aria-label", label);
      made.onclick = () => { act(); this.network.redraw(); };
      tools.append(made);
    }
    return tools;
  }
}

// As much of the words as there is room for.
function fitting(ctx, words, room) {
  if (room <= 0) return "";
  if (ctx.measureText(words).width <= room) return words;
  let least = 0, most = words.length;
  while (least < most) {
    const half = (least + most + 1) >> 1;
    if (ctx.measureText(`${words.slice(0, half).trimEnd()}…`).width <= room) least = half; else most = half - 1;
  }
  return least ? `${words.slice(0, least).trimEnd()}…` : "";
}

export default function ({ data: [given], parentElement, setTriggerValue }) {
  const map = (parentElement.map ??= new (given.stretches ? WholeMap : GraphMap)(parentElement));
  map.send = (act, id, onto) => setTriggerValue("gesture", { act, id, onto });
  map.take(given);
  return () => { map.end(); delete parentElement.map; };
}
