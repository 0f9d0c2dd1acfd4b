// The reading surface of Compare (surface.py). What is drawn here is moved here: scrolling, pinning, collapsing, reordering,
// swiping and ticking wait for nobody. What has to last is told to the page as acts. A cell that has not changed keeps its
// elements, and whatever arrives, the line that is being read stays where it is.

const NARROW = 640; // Pixels of width below which one column is shown at a time.
const AHEAD = 240; // Pixels from an end of the window at which further rows are asked for.
const SETTLED = 140; // Milliseconds after which a scroll has ended.
const ARRIVES = 500; // Milliseconds after which the address is that of the page.
const states = (window.__forkyCompareStates ??= new Map()); // What a conversation's reader chose, for as long as the tab lives.

function piece(kind, name, text) {
  const made = document.createElement(kind);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function icon(name) {
  const made = piece("span", "icon", name);
  made.setAttribute("aria-hidden", "true");
  return made;
}

function press(name, label, sign, act, shown = false) {
  const made = piece("button", name);
  made.type = "button";
  if (sign) made.append(icon(sign));
  if (shown) made.append(piece("span", "label", label));
  else { made.setAttribute("aria-label", label); made.title = label; }
  made.onclick = (event) => { event.stopPropagation(); act(event); };
  return made;
}

// The words of a message: trees of forky_core/render/marked_prose.py.
function wordsOf(trees) {
  return made(["div", { class: "words fk-text" }, ...trees]);
}

class Surface {
  constructor(root) {
    this.root = root;
    this.sections = new Map();
    this.bands = new Map();
    this.cells = new Map();
    this.n = 0;
    this.build();
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(root);
    this.main = document.querySelector("[data-testid=stMain]");
    const inner = this.main?.querySelector("[data-testid=stMainBlockContainer]");
    if (inner) this.watch.observe(inner);
    this.resized = () => this.fit();
    window.addEventListener("resize", this.resized);
    this.away = (event) => { if (this.menu && !event.composedPath().includes(this.menu)) this.closeMenu(false); };
    document.addEventListener("pointerdown", this.away, true);
  }

  build() {
    this.tools = piece("div", "tools");
    this.tools.setAttribute("role", "toolbar");
    this.tools.setAttribute("aria-label", "How the columns are shown");
    this.dots = piece("div", "dots");
    this.legend = piece("div", "legend");
    const meaning = [["only", "only here"], ["clash", "they disagree"], ["other", "said otherwise"], ["gone", "missing here"]];
    this.legend.append(...meaning.map(([mark, means]) => piece("span", mark, means)));
    this.board = piece("div", "board");
    this.board.setAttribute("role", "group");
    this.board.setAttribute("aria-label", "Columns. In the head of a column: Left and Right go to the next, with Alt they move it, P pins, C collapses, Down chooses parts. Among parts: the arrows go on, Space chooses.");
    this.board.tabIndex = -1;
    this.heads = piece("div", "heads");
    this.spare = piece("div", "spare");
    this.board.append(this.heads, this.spare);
    this.panel = piece("aside", "panel");
    this.panel.hidden = true;
    this.picks = piece("div", "picks");
    this.picks.hidden = true;
    this.jump = press("jump", "New below", "arrow_downward", () => this.goTo(this.newest()), true);
    this.jump.hidden = true;
    this.live = piece("div", "vh");
    this.live.setAttribute("role", "status");
    const stage = piece("div", "stage");
    stage.append(this.board, this.jump, this.panel);
    this.root.replaceChildren(this.tools, this.dots, this.legend, stage, this.picks, this.live);
    this.board.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.board.addEventListener("keydown", (event) => this.key(event));
    // Whatever a diagram moves, the line that is read stays where it is.
    this.board.addEventListener("fk-draw", () => { const anchor = this.anchor(); queueMicrotask(() => this.hold(anchor)); });
  }

  // ── What the page says ──────────────────────────────────────────────────────────────────────────────────────────

  update(data, tell) {
    const first = this.data === undefined || this.data.of !== data.of;
    const before = this.data;
    this.tell = (name, more = {}) => { this.n += 1; tell("act", { name, n: this.n, ...more }); };
    this.data = data;
    if (first) {
      this.state = states.get(data.of) ?? { collapsed: new Set(), alone: false, picking: false, ticks: new Map(), at: 0 };
      states.set(data.of, this.state);
      this.order = null; this.pinned = null;
    }
    const keys = data.columns.map((one) => one.key);
    // A column that was moved here stays so until the page has heard of it.
    const waiting = this.order && this.order.length === keys.length && this.order.every((key) => keys.includes(key)) && this.moved > performance.now();
    if (!waiting) this.order = keys;
    const pinned = data.columns.find((one) => one.pinned)?.key;
    if (!(this.pinned && keys.includes(this.pinned) && this.pinnedTill > performance.now())) this.pinned = pinned;
    setTimeout(nameSides, ARRIVES, keys);
    const anchor = first ? null : this.anchor();
    this.root.classList.toggle("dark", data.dark);
    this.drawTools();
    this.drawColumns();
    this.drawRows();
    this.drawEnds(data.ends);
    this.layOut();
    this.drawPanel();
    this.drawPicks();
    this.fit();
    this.asking = false;
    if (first) this.open();
    else if (data.asked && data.asked !== before.asked) this.goTo(this.newest(), false);
    else this.hold(anchor);
    if (!first) this.announce(before);
    if (window.__forkyCompareEnds) this.write(window.__forkyCompareEnds);
    this.seen();
  }

  write(ends) {
    const now = {};
    for (const [key, end] of Object.entries(this.data?.ends ?? {})) now[key] = end.state === "writing" && ends[key]?.id === end.id ? ends[key] : end;
    const anchor = this.anchor();
    this.drawEnds(now);
    this.leaveRoom();
    this.hold(anchor);
  }

  // Room below the newest row, so that it can stand at the top; what arrives there takes of it, and nothing moves.
  leaveRoom() {
    const alone = this.state.alone || this.narrow;
    const missing = (box, key) => {
      const band = this.bands.get(this.newest())?.el, cell = this.cells.get(`${key}|${this.newest()}`);
      const from = box === this.board && band && !band.hidden ? band : cell;
      const end = this.sections.get(key)?.end;
      if (!from || !end || !box.clientHeight) return 0;
      const used = end.getBoundingClientRect().bottom - from.getBoundingClientRect().top;
      return Math.max(0, Math.floor(box.clientHeight - this.covered(box) - used - 6));
    };
    this.spare.style.height = alone ? "0" : `${missing(this.board, this.order[0])}px`;
    for (const key of this.order) {
      const { el, end } = this.sections.get(key);
      end.style.marginBottom = alone ? `${missing(el, key)}px` : "";
    }
  }

  announce(before) {
    const had = new Set(before.rows.flatMap((one) => one.cells.flat()).map((one) => one.id));
    const fresh = this.data.rows.flatMap((one) => one.cells.map((cell, at) => [cell, at])).filter(([cell]) => cell.some((one) => one.role === "assistant" && !had.has(one.id)));
    const keys = new Set(before.columns.map((one) => one.key));
    const names = [...new Set(fresh.map(([, at]) => this.data.columns[at]).filter((one) => keys.has(one.key)).map((one) => one.name))];
    if (!names.length || before.before !== this.data.before || before.after !== this.data.after) return;
    this.live.textContent = `Answered: ${names.join(", ")}`;
    const row = this.cells.get(`${this.order[0]}|${this.newest()}`);
    const under = row && row.getBoundingClientRect().top > this.scroller().getBoundingClientRect().bottom - 60;
    this.jump.hidden = !under;
  }

  // ── Heads ───────────────────────────────────────────────────────────────────────────────────────────────────────

  drawTools() {
    const { data, state } = this;
    const sign = JSON.stringify([data.marks, data.panel?.kind, data.rows.some((row) => row.answers > 1)]);
    if (sign !== this.toolsDrawn) {
      const focused = this.root.getRootNode().activeElement?.dataset?.tool;
      this.toolsDrawn = sign;
      const tool = (made, name, state, on) => { made.dataset.tool = name; made.setAttribute(state, on); return made; };
      const parts = [tool(press("small", "What can be done with them", "tune", (event) => this.openTools(event.currentTarget)), "more", "aria-haspopup", "menu")];
      if (data.rows.some((row) => row.answers > 1)) {
        const marks = tool(press("toggle", "What differs", "difference", () => this.mark(data.marks === "off" ? "on" : "off"), true), "marks", "aria-pressed", data.marks !== "off");
        marks.title = "Marks what only one of them says, and what they disagree on";
        parts.unshift(marks);
      }
      this.tools.replaceChildren(...parts);
      if (focused) this.tools.querySelector(`[data-tool="${focused}"]`)?.focus({ preventScroll: true });
    }
    this.root.dataset.marks = data.marks;
    this.root.classList.toggle("picking", state.picking);
  }

  mark(value) {
    this.data.marks = value;
    this.drawTools();
    this.tell("marks", { value });
  }

  openTools(opener) {
    const { data, state } = this, compared = data.rows.some((row) => row.answers > 1);
    const many = (n, which) => `Show ${n} ${which} turn${n === 1 ? "" : "s"}`;
    this.openMenu(opener, "What can be done with them", [
      compared && ["Where they disagree", "fact_check", () => this.togglePanel("claims")],
      compared && data.columns.length > 2 && ["How much every two share", "grid_on", () => this.togglePanel("pairs")],
      data.shared && ["What they have in common", "unfold_more", () => this.togglePanel("shared")],
      compared && ["Mark also what is missing here", "format_strikethrough", () => this.mark(data.marks === "gone" ? "on" : "gone"), false, data.marks === "gone"],
      ["Scroll each column alone", "view_column", () => this.scrollAlone(!state.alone), this.narrow, state.alone],
      data.before && [many(data.before, "earlier"), "expand_less", () => this.more("earlier")],
      data.after && [many(data.after, "later"), "expand_more", () => this.more("later")],
      !data.reads && data.rows.some((row) => row.rivals > 1) && ["Make one answer of chosen parts", "checklist", () => this.pickParts(!state.picking), false, state.picking],
      data.can.propose && [`Propose each of ${data.can.propose}`, "outgoing_mail", () => this.tell("propose")],
      data.can.vote && ["Let people vote …", "how_to_vote", () => this.tell("vote")],
      ["Start a demo …", "slideshow", () => this.tell("demo")],
      data.can.share && ["Share …", "ios_share", () => this.tell("share")],
    ]);
  }

  togglePanel(kind) {
    if (this.data.panel?.kind === kind) this.tell("panel", { kind: "" });
    else this.tell("panel", { kind, row: kind === "shared" ? 0 : this.comparedRow() });
  }

  // The row that is read, or the nearest that two columns answered.
  comparedRow() {
    const at = this.reading()?.row ?? this.data.open;
    const rows = this.data.rows.filter((row) => row.answers > 1);
    return rows.reduce((best, row) => (Math.abs(row.n - at) < Math.abs(best - at) ? row.n : best), rows.at(-1)?.n ?? 0);
  }

  drawColumns() {
    const keys = new Set(this.order);
    for (const [key, section] of this.sections) if (!keys.has(key)) { section.el.remove(); section.top.remove(); this.sections.delete(key); }
    for (const head of this.data.columns) {
      let section = this.sections.get(head.key);
      if (!section) {
        const el = piece("section", "col");
        el.dataset.key = head.key;
        const top = piece("div", "head"), title = piece("h2", "vh"), end = piece("div", "cell end");
        top.dataset.keys = "pc";
        top.dataset.key = head.key;
        el.append(title, end);
        el.addEventListener("scroll", () => this.columnScrolled(head.key), { passive: true });
        section = { el, top, title, end, drawn: "", ended: "" };
        this.sections.set(head.key, section);
        this.board.append(el);
      }
      const at = this.order.indexOf(head.key);
      const folded = this.state.collapsed.has(head.key) && !this.narrow;
      const sign = JSON.stringify([head, this.pinned === head.key, folded, at, this.order.length]);
      if (sign !== section.drawn) {
        section.drawn = sign;
        this.drawHead(section, head, at, folded);
      }
    }
  }

  drawHead({ el, top, title }, head, at, folded) {
    const root = this.root.getRootNode(), focused = top.contains(root.activeElement) ? root.activeElement : null;
    const again = focused === top ? "head" : focused?.dataset?.part;
    const pinned = this.pinned === head.key;
    el.setAttribute("role", "region");
    el.setAttribute("aria-label", `Column ${at + 1} of ${this.order.length}: ${head.name}${pinned ? ", pinned" : ""}`);
    title.textContent = head.name;
    for (const one of [el, top]) {
      one.classList.toggle("pinned", pinned);
      one.classList.toggle("folded", folded);
      one.style.setProperty("--lane", head.color);
    }
    top.setAttribute("role", "group");
    top.setAttribute("aria-label", `Head of ${head.name}`);
    top.tabIndex = 0;
    top.draggable = !this.narrow;
    const name = piece("div", "name", head.name), told = head.numbers.filter((one) => one.name === "Tokens" || one.name === "Cost");
    const facts = piece("div", "facts", [head.proposal, head.model, ...told.map((one) => (one.name === "Tokens" ? `${one.shown} tokens` : one.shown))].filter(Boolean).join(" · "));
    name.title = head.name;
    facts.title = facts.textContent;
    const more = folded
      ? press("small", `Show ${head.name}`, "chevron_right", () => this.fold(head.key))
      : press("small more", `More about ${head.name}`, "more_horiz", (event) => this.openColumn(head, event.currentTarget));
    more.dataset.part = "more";
    if (!folded) more.setAttribute("aria-haspopup", "menu");
    top.replaceChildren(...(pinned && at ? [icon("keep")] : []), name, facts, more);
    top.ondragstart = (event) => { event.dataTransfer.setData("text/forky-column", head.key); event.dataTransfer.effectAllowed = "move"; this.dragged = head.key; el.classList.add("dragged"); };
    top.ondragend = () => { this.dragged = null; for (const one of this.sections.values()) one.el.classList.remove("dragged", "target"); };
    for (const one of [el, top]) {
      one.ondragover = (event) => { if (this.dragged && this.dragged !== head.key) { event.preventDefault(); el.classList.add("target"); } };
      one.ondragleave = () => el.classList.remove("target");
      one.ondrop = (event) => { if (!this.dragged) return; event.preventDefault(); const key = this.dragged; this.dragged = null; this.move(key, this.order.indexOf(head.key)); };
    }
    if (again === "head") top.focus({ preventScroll: true });
    else if (again) top.querySelector(`[data-part="${again}"]`)?.focus({ preventScroll: true });
  }

  // ── Rows ────────────────────────────────────────────────────────────────────────────────────────────────────────

  drawRows() {
    const rows = new Map(this.data.rows.map((row) => [row.n, row]));
    for (const [n, band] of this.bands) if (!rows.has(n)) { band.el.remove(); this.bands.delete(n); }
    for (const [id, cell] of this.cells) {
      const [key, n] = [id.slice(0, id.lastIndexOf("|")), Number(id.slice(id.lastIndexOf("|") + 1))];
      if (!rows.has(n) || !this.sections.has(key)) { cell.remove(); this.cells.delete(id); }
    }
    for (const row of this.data.rows) {
      this.drawBand(row);
      row.cells.forEach((entries, at) => this.drawCell(this.data.columns[at].key, row, entries));
    }
  }

  drawBand(row) {
    const sign = JSON.stringify([row.asked, row.rivals, row.files, this.data.fusing, row.n === this.data.rows[0].n && [this.data.before, this.data.shared, this.data.notes]]);
    let band = this.bands.get(row.n);
    if (band?.sign === sign) return;
    if (!band) {
      band = { el: piece("div", "band") };
      band.el.dataset.row = row.n;
      this.bands.set(row.n, band);
      this.board.append(band.el);
    }
    band.sign = sign;
    const inner = piece("div", "inner");
    if (row.n === this.data.rows[0].n && this.data.before) {
      const many = this.data.before === 1 ? "1 earlier turn" : `${this.data.before} earlier turns`;
      inner.append(press("quietly earlier", `Show ${many}`, "expand_less", () => this.more("earlier"), true));
    }
    if (row.n === this.data.rows[0].n && !this.data.before && this.data.shared) inner.append(press("quietly earlier", this.data.shared, "unfold_more", () => this.togglePanel("shared"), true));
    if (row.n === this.data.rows[0].n && this.data.notes.length) inner.append(piece("div", "notes", this.data.notes.join(" ")));
    if (row.asked) inner.append(this.question(row));
    if (row.rivals > 1 && !this.data.reads) {
      inner.append(press("quietly fuse", `Make one answer of ${row.rivals}`, "merge_type", () => this.tell("fuse", { row: row.n }), true));
    }
    band.el.hidden = inner.childElementCount === 0;
    band.el.replaceChildren(inner);
  }

  question(row) {
    const box = piece("div", "question");
    box.append(piece("div", "took", `${row.asker} asked all of them`));
    box.append(wordsOf(row.asked));
    if (row.files) box.append(this.files(row.files));
    return box;
  }

  files(names) {
    const made = piece("div", "files");
    made.append(icon("attach_file"), document.createTextNode(names));
    return made;
  }

  drawCell(key, row, entries) {
    const id = `${key}|${row.n}`, sign = JSON.stringify([entries, row.asked, row.rivals > 1]);
    let cell = this.cells.get(id);
    if (cell?.sign === sign) return;
    if (!cell) {
      cell = piece("div", "cell");
      cell.dataset.row = row.n;
      this.cells.set(id, cell);
      this.sections.get(key).el.append(cell);
    }
    cell.sign = sign;
    cell.replaceChildren();
    if (row.asked) {
      const asked = this.question(row);
      asked.classList.add("own");
      cell.append(asked);
    }
    for (const entry of entries) cell.append(this.entry(entry, row));
    if (this.state.picking) this.addTicks(cell);
  }

  entry(entry, row) {
    const box = piece("article", `entry ${entry.role}`);
    box.dataset.id = entry.id;
    if (entry.pick && row.rivals > 1) box.dataset.pick = "";
    if (entry.same) {
      box.append(piece("div", "took", `The same message as in ${entry.same}`));
      return box;
    }
    box.append(piece("div", "took", entry.took));
    let into = box;
    if (entry.event) {
      const event = piece("div", "event");
      event.append(icon("merge"), document.createTextNode(entry.event));
      box.append(event);
      if (entry.blocks.length) {
        into = piece("details");
        into.append(piece("summary", "", "What the model reads of it"));
        box.append(into);
      }
    }
    into.append(wordsOf(entry.blocks));
    if (entry.left) into.append(press("quietly whole", `Show ${entry.left.toLocaleString("en")} more characters`, "expand_more", () => this.tell("whole", { id: entry.id }), true));
    if (entry.files) box.append(this.files(entry.files));
    if (entry.why) {
      const why = piece("div", "why");
      why.append(icon("warning"), document.createTextNode(entry.why));
      box.append(why);
    }
    return box;
  }

  drawEnds(ends) {
    for (const head of this.data.columns) {
      const section = this.sections.get(head.key), end = ends[head.key];
      const sign = JSON.stringify(end ?? (head.empty ? [head.name, this.data.last] : null));
      if (sign === section.ended) continue;
      section.ended = sign;
      const box = section.end;
      box.replaceChildren();
      if (!end) {
        if (head.empty) {
          box.append(piece("p", "none", this.data.last.length ? `${head.name} ends here, with this message:` : "Nothing has been said here yet."));
          box.append(wordsOf(this.data.last));
        }
        continue;
      }
      const made = piece("article", `entry assistant ${end.state}`);
      if (end.state === "writing") {
        made.append(piece("div", "took", `${end.model} is writing …`));
        made.append(wordsOf(end.blocks));
        made.append(press("quietly stop", `Stop ${head.name}`, "stop_circle", () => this.tell("stop", { key: head.key }), true));
      } else {
        made.append(piece("div", "took", `${head.name} · ${end.model}`));
        const why = piece("div", "why");
        why.append(icon("error"), document.createTextNode(end.why));
        made.append(why);
        if (!this.data.reads) made.append(press("quietly again", "Ask again", "refresh", () => this.tell("again", { key: head.key }), true));
      }
      box.append(made);
    }
  }

  // ── Where things stand ──────────────────────────────────────────────────────────────────────────────────────────

  layOut() {
    const { board, order, state } = this, alone = state.alone || this.narrow;
    board.classList.toggle("alone", alone);
    this.root.classList.toggle("narrow", this.narrow);
    const wide = (key) => (state.collapsed.has(key) ? "2.9rem" : `minmax(var(--least), 1fr)`);
    board.style.gridTemplateColumns = alone ? "" : order.map(wide).join(" ");
    const last = 2 + 2 * this.data.rows.length;
    board.style.gridTemplateRows = alone ? "" : `auto repeat(${last - 1}, auto) 1fr`;
    order.forEach((key, at) => {
      const { el, top, title, end } = this.sections.get(key);
      top.style.gridColumn = alone ? "" : String(at + 1);
      this.rehome(top, alone ? el : this.heads, alone ? title : null);
      el.style.order = at;
      el.style.gridColumn = alone ? "" : String(at + 1);
      el.style.gridRow = alone ? "" : `2 / ${last + 2}`;
      end.style.gridRow = this.data.columns.find((one) => one.key === key).empty ? `2 / ${last}` : String(last - 1);
      end.style.order = this.data.rows.length;
      el.append(end);
    });
    this.data.rows.forEach((row, at) => {
      this.bands.get(row.n).el.style.gridRow = String(2 + 2 * at);
      for (const key of order) {
        const cell = this.cells.get(`${key}|${row.n}`);
        cell.style.gridRow = String(2 + 2 * at);
        cell.style.order = at;
        this.sections.get(key).end.before(cell);
      }
    });
    // What a screen reader reads follows the order that is seen.
    const listed = (box, what) => [...box.querySelectorAll(`:scope > .${what}`)].map((one) => one.dataset.key).join("\n");
    if (listed(board, "col") !== order.join("\n") || (!alone && listed(this.heads, "head") !== order.join("\n"))) {
      const focused = this.root.getRootNode().activeElement;
      const scrolls = new Map([...this.sections].map(([key, { el }]) => [key, el.scrollTop]));
      for (const key of order) {
        board.append(this.sections.get(key).el);
        if (!alone) this.heads.append(this.sections.get(key).top);
      }
      for (const [key, top] of scrolls) this.sections.get(key).el.scrollTop = top;
      if (focused && board.contains(focused)) focused.focus({ preventScroll: true });
    }
    for (const { el } of this.bands.values()) board.append(el);
    this.spare.style.gridRow = String(last + 1);
    board.append(this.spare);
    this.drawDots();
  }

  // Moved to another place, an element loses the focus.
  rehome(top, home, after) {
    if (top.parentNode === home) return;
    const focused = this.root.getRootNode().activeElement, inside = top.contains(focused);
    if (after) after.after(top); else home.append(top);
    if (inside) focused.focus({ preventScroll: true });
  }

  // How much the heads cover of what scrolls.
  covered(box) {
    return box === this.board ? this.heads.offsetHeight : box.querySelector(".head")?.offsetHeight ?? 0;
  }

  drawDots() {
    const sign = JSON.stringify([this.order, this.narrow, this.state.at, this.data.columns.map((one) => one.name)]);
    if (sign === this.dotsDrawn) return;
    this.dotsDrawn = sign;
    this.dots.hidden = !this.narrow;
    this.dots.replaceChildren(...this.order.map((key, at) => {
      const head = this.data.columns.find((one) => one.key === key);
      const made = press("dot", head.name, "", () => this.swipeTo(at), true);
      made.style.setProperty("--lane", head.color);
      made.setAttribute("aria-current", String(at === this.state.at));
      return made;
    }));
    this.dots.setAttribute("role", "group");
    this.dots.setAttribute("aria-label", "Columns");
  }

  fit() {
    if (!this.data) return;
    const narrow = this.root.clientWidth > 0 && this.root.clientWidth < NARROW;
    if (narrow !== this.narrow) {
      const at = this.reading();
      this.narrow = narrow;
      for (const section of this.sections.values()) section.drawn = "";
      this.drawColumns();
      this.layOut();
      if (at) this.goTo(at.row, false);
    }
    const main = this.main, ask = document.querySelector(".st-key-compare-ask-box");
    const top = this.root.getBoundingClientRect().top + (main?.scrollTop ?? 0) - (main?.getBoundingClientRect().top ?? 0);
    const room = (main?.clientHeight ?? innerHeight) - top - (ask?.offsetHeight ?? 0) - 14;
    const height = `${Math.max(narrow ? 300 : 320, Math.round(room))}px`;
    if (this.root.style.height !== height) this.root.style.height = height;
    this.board.style.setProperty("--view", `${this.board.clientWidth}px`);
    this.leaveRoom();
  }

  redraw() {
    const anchor = this.anchor();
    this.drawColumns();
    this.layOut();
    this.fit();
    this.hold(anchor);
  }

  // The box that scrolls what is read: the board, or the column at hand.
  scroller() {
    if (!this.state.alone && !this.narrow) return this.board;
    const key = this.narrow ? this.order[this.state.at] ?? this.order[0] : this.last ?? this.order[0];
    return this.sections.get(key)?.el ?? this.board;
  }

  // Where one reads: the row at the top, and how far it is scrolled past.
  reading(box = this.scroller()) {
    const { top, left } = box.getBoundingClientRect();
    const line = top + this.covered(box) + 4;
    const scope = box === this.board ? this.board : box;
    for (const cell of scope.querySelectorAll(".cell[data-row]")) {
      const rect = cell.getBoundingClientRect();
      if (rect.height && rect.bottom > line) return { row: Number(cell.dataset.row), past: line - rect.top, line, left };
    }
    return null;
  }

  // The block or the question at the top of what is read, with where it stands; of each column where they scroll alone.
  anchor() {
    const boxes = this.state.alone || this.narrow ? this.order.map((key) => this.sections.get(key)?.el).filter(Boolean) : [this.board];
    return boxes.map((box) => {
      const rect = box.getBoundingClientRect();
      if (!rect.height || box.scrollTop === 0) return null;
      const line = rect.top + this.covered(box);
      const first = (selector) => [...box.querySelectorAll(selector)].find((one) => {
        const at = one.getBoundingClientRect();
        return at.height && at.bottom > line;
      });
      const top = (one) => one?.getBoundingClientRect().top ?? Infinity;
      const block = first(".cell[data-row] [data-b]"), band = first(":scope > .band");
      if (!block && !band) return null;
      if (top(band) < top(block)) return { box, row: Number(band.dataset.row), top: top(band) - rect.top };
      return { box, id: block.closest("article")?.dataset.id, key: block.closest(".col")?.dataset.key, b: block.dataset.b, top: top(block) - rect.top };
    }).filter(Boolean);
  }

  hold(anchors) {
    for (const { box, row, id, key, b, top } of anchors ?? []) {
      const same = row === undefined
        ? this.sections.get(key)?.el.querySelector(`article[data-id="${CSS.escape(id ?? "")}"] [data-b="${b}"]`)
        : this.bands.get(row)?.el;
      if (!same || !box.isConnected) continue;
      const by = same.getBoundingClientRect().top - box.getBoundingClientRect().top - top;
      if (Math.abs(by) >= 1) box.scrollTop += by;
    }
  }

  newest() {
    return this.data.rows.at(-1)?.n ?? 0;
  }

  open() {
    const at = this.data.open;
    if (at > (this.data.rows[0]?.n ?? 0)) requestAnimationFrame(() => this.goTo(at, false));
    else for (const { el } of this.sections.values()) el.scrollTop = 0;
  }

  goTo(row, smooth = true) {
    const behavior = smooth && !matchMedia("(prefers-reduced-motion: reduce)").matches ? "smooth" : "instant";
    const boxes = this.state.alone || this.narrow ? this.order.map((key) => this.sections.get(key).el) : [this.board];
    for (const box of boxes) {
      const key = box === this.board ? this.order[0] : box.dataset.key;
      const band = this.bands.get(row)?.el, cell = this.cells.get(`${key}|${row}`);
      const aim = box === this.board && band && !band.hidden ? band : cell;
      if (!aim) continue;
      box.scrollTo({ top: box.scrollTop + aim.getBoundingClientRect().top - box.getBoundingClientRect().top - this.covered(box) - 4, behavior });
    }
    this.jump.hidden = true;
  }

  scrolled() {
    this.seen();
    if (this.narrow) {
      const at = Math.round(this.board.scrollLeft / Math.max(1, this.board.clientWidth));
      if (at !== this.state.at && this.order[at]) { this.state.at = at; this.drawDots(); }
      return;
    }
    if (!this.state.alone) this.reachEnds(this.board);
  }

  columnScrolled(key) {
    this.last = key;
    const box = this.sections.get(key)?.el;
    if (!box || !(this.state.alone || this.narrow)) return;
    this.seen();
    this.reachEnds(box);
    // On a phone the columns beside this one go along, so that a swipe shows the answer to the same question.
    if (!this.narrow || this.state.alone || key !== this.order[this.state.at]) return;
    clearTimeout(this.following);
    this.following = setTimeout(() => this.follow(box), SETTLED);
  }

  follow(box) {
    const at = this.reading(box);
    if (!at) return;
    for (const key of this.order) {
      const el = this.sections.get(key).el, cell = this.cells.get(`${key}|${at.row}`);
      if (el === box || !cell) continue;
      const line = el.getBoundingClientRect().top + this.covered(el) + 4;
      el.scrollTop += cell.getBoundingClientRect().top - line + Math.min(at.past, Math.max(0, cell.offsetHeight - 120));
    }
  }

  reachEnds(box) {
    if (box.scrollTop < AHEAD && this.data.before && this.wasAt > box.scrollTop) this.more("earlier");
    else if (box.scrollHeight - box.scrollTop - box.clientHeight < AHEAD && this.data.after && this.wasAt < box.scrollTop) this.more("later");
    this.wasAt = box.scrollTop;
  }

  more(which) {
    if (this.asking) return;
    this.asking = true;
    this.tell(which);
  }

  seen() {
    const box = this.scroller();
    if (box.scrollHeight - box.scrollTop - box.clientHeight < 80) this.jump.hidden = true;
  }

  swipeTo(at) {
    this.board.scrollTo({ left: at * this.board.clientWidth, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth" });
    this.sections.get(this.order[at])?.top.focus({ preventScroll: true });
  }

  // ── What one does ───────────────────────────────────────────────────────────────────────────────────────────────

  say(text) { this.live.textContent = text; }
  named(key) { return this.data.columns.find((one) => one.key === key)?.name ?? ""; }

  pin(key) {
    if (this.pinned === key) return;
    this.pinned = key;
    this.pinnedTill = performance.now() + 4000;
    this.redraw();
    this.say(`${this.named(key)} is pinned: the others are compared with it`);
    this.tell("pin", { key });
  }

  fold(key) {
    const { collapsed } = this.state;
    if (!collapsed.delete(key)) collapsed.add(key);
    this.redraw();
    this.say(`${this.named(key)} ${collapsed.has(key) ? "collapsed" : "shown"}`);
  }

  move(key, to) {
    const from = this.order.indexOf(key);
    if (to < 0 || to >= this.order.length || to === from) return;
    const order = this.order.filter((one) => one !== key);
    order.splice(to, 0, key);
    this.order = order;
    this.moved = performance.now() + 4000;
    this.redraw();
    const head = this.sections.get(key).top;
    head.focus({ preventScroll: true });
    head.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.say(`${this.named(key)} is column ${to + 1} of ${order.length}`);
    this.tell("order", { keys: order });
  }

  scrollAlone(alone) {
    if (this.state.alone === alone) return;
    const at = this.reading();
    this.state.alone = alone;
    this.layOut();
    this.fit();
    if (at) this.goTo(at.row, false);
  }

  key(event) {
    const head = event.target.classList?.contains("head") ? event.target : null;
    if (event.ctrlKey || event.metaKey) return;
    const sideways = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!head && event.target.closest?.(".tick")) {
      if (!this.goOn(event.target, sideways, { ArrowUp: -1, ArrowDown: 1 }[event.key])) return;
    } else if (!head) return;
    else {
      const { key } = head.dataset, at = this.order.indexOf(key);
      if (sideways && event.altKey) this.move(key, at + sideways);
      else if (event.altKey) return;
      else if (sideways) this.sections.get(this.order[at + sideways])?.top.focus();
      else if (event.key === "p" || event.key === "P") this.pin(key);
      else if (event.key === "c" || event.key === "C") this.fold(key);
      else if (event.key === "Enter") head.querySelector("button")?.click();
      else if (event.key === "ArrowDown" && this.boxes(key).length) this.pickParts(true, key);
      else return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  openColumn(head, opener) {
    const at = this.order.indexOf(head.key);
    this.openMenu(opener, `More about ${head.name}`, [
      [[head.facts, ...head.numbers.map((one) => `${one.name}: ${one.shown}${one.best ? " ★" : ""}`)].join(" · ")],
      head.open && ["Go on with this one in the Chat", "arrow_outward", () => this.tell("open", { key: head.key })],
      (head.request || head.merge) && [head.request ? `Look at request ${head.request} …` : `Bring back into ${head.merge} …`, "merge", () => this.tell("merge", { key: head.key })],
      ["Pin: compare the others with it", "keep", () => this.pin(head.key), this.pinned === head.key],
      ["Collapse", "unfold_less", () => this.fold(head.key), this.narrow],
      ["Move left", "arrow_back", () => this.move(head.key, at - 1), at === 0],
      ["Move right", "arrow_forward", () => this.move(head.key, at + 1), at === this.order.length - 1],
      ["Take it out of the comparison", "close", () => this.tell("order", { keys: this.order.filter((key) => key !== head.key) }), this.order.length < 3],
      head.promote.length && ["Prefer this answer on the branch"],
      ...head.promote.slice(0, 40).map(([name, shown]) => [shown, "flag", () => this.tell("promote", { key: head.key, branch: name })]),
    ]);
  }

  // A menu of lines: a label, an icon, what it does, whether that is impossible, and whether it is switched on. A label alone is a heading.
  openMenu(opener, title, lines) {
    if (this.menu) { this.closeMenu(); return; }
    const items = lines.filter(Boolean).map(([label, sign, act, off = false, on]) => {
      if (!act) return piece("div", "heading", label);
      const made = press("item", label, on ? "check" : sign, () => { this.closeMenu(); act(); }, true);
      made.setAttribute("role", on === undefined ? "menuitem" : "menuitemcheckbox");
      if (on !== undefined) made.setAttribute("aria-checked", String(on));
      made.disabled = off;
      return made;
    });
    const menu = piece("div", "menu");
    menu.setAttribute("role", "menu");
    menu.setAttribute("aria-label", title);
    menu.append(...items);
    this.root.append(menu);
    this.menu = menu; this.opener = opener;
    opener.setAttribute("aria-expanded", "true");
    const box = this.root.getBoundingClientRect(), by = opener.getBoundingClientRect();
    menu.style.top = `${by.bottom - box.top + 2}px`;
    menu.style.left = `${Math.max(4, Math.min(by.right - box.left - menu.offsetWidth, box.width - menu.offsetWidth - 4))}px`;
    menu.style.maxHeight = `${Math.max(160, innerHeight - by.bottom - 20)}px`;
    const able = () => [...menu.querySelectorAll("button:not(:disabled)")];
    able()[0]?.focus();
    menu.onkeydown = (event) => {
      const all = able(), now = all.indexOf(this.root.getRootNode().activeElement);
      const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: all.length - 1 }[event.key];
      if (to !== undefined) all[(to + all.length) % all.length].focus();
      else if (event.key === "Escape") this.closeMenu();
      else if (event.key === "Tab") { this.closeMenu(false); return; }
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
  }

  closeMenu(focus = true) {
    this.menu?.remove();
    this.menu = null;
    this.opener?.setAttribute("aria-expanded", "false");
    if (focus) this.opener?.focus();
  }

  // ── Picking parts ───────────────────────────────────────────────────────────────────────────────────────────────

  pickParts(on, key = this.order[0]) {
    this.state.picking = on;
    if (on) for (const cell of this.cells.values()) this.addTicks(cell);
    else {
      this.state.ticks.clear();
      for (const cell of this.cells.values()) cell.sign = "";
      this.drawRows();
      this.layOut();
    }
    this.drawTools();
    this.drawPicks();
    this.fit();
    if (on) this.boxes(key).find((one) => one.getBoundingClientRect().top > this.board.getBoundingClientRect().top + this.covered(this.board))?.focus();
    else this.sections.get(key)?.top.focus();
  }

  // Each paragraph, block of code, list and table is a part; of a list or a table that is chosen, each line is one, too.
  addTicks(cell) {
    for (const entry of cell.querySelectorAll("article[data-pick]"))
      for (const part of entry.querySelectorAll(".words > :not(hr, .fk-plain, .part)")) {
        const blocks = part.matches("[data-b]") ? [part] : [...part.querySelectorAll("[data-b]")], box = piece("div", "part");
        const whole = this.tickFor(part, entry.dataset.id, blocks);
        part.before(box);
        box.append(whole, part);
        box.onclick = ({ target }) => { if (!target.closest("a, button, label, summary") && getSelection().isCollapsed) whole.firstChild.click(); };
        for (const block of blocks.length > 1 ? blocks : []) (block.tagName === "TR" ? block.firstElementChild : block).prepend(this.tickFor(block, entry.dataset.id, [block]));
      }
    this.drawTicks(cell);
  }

  tickFor(part, id, blocks) {
    const label = piece("label", "tick"), box = piece("input"), at = blocks.map((one) => Number(one.dataset.b));
    box.type = "checkbox";
    box.setAttribute("aria-label", `Choose: ${part.textContent.trim().slice(0, 80)}`);
    box.part_ = { id, at };
    box.onchange = () => {
      const ticks = this.state.ticks.get(id) ?? new Set();
      for (const one of at) if (box.checked) ticks.add(one); else ticks.delete(one);
      if (ticks.size) this.state.ticks.set(id, ticks); else this.state.ticks.delete(id);
      this.drawTicks(box.closest(".cell"));
      this.drawPicks();
      this.fit();
      if (this.data.fusing === "picked") this.compose();
    };
    label.append(box);
    return label;
  }

  drawTicks(cell) {
    for (const box of cell.querySelectorAll(".tick input")) {
      const ticks = this.state.ticks.get(box.part_.id), chosen = box.part_.at.filter((one) => ticks?.has(one)).length;
      box.checked = chosen === box.part_.at.length;
      box.indeterminate = chosen > 0 && !box.checked;
      if (box.matches(".part > .tick input")) box.closest(".part").classList.toggle("picked", chosen > 0);
    }
  }

  boxes(key) {
    return [...(this.sections.get(key)?.el.querySelectorAll(this.state.picking ? ".part > .tick input" : "article[data-pick]") ?? [])];
  }

  // From one part to the next of its column, or to the one beside it.
  goOn(box, sideways, by) {
    const key = box.closest(".col").dataset.key, { top } = box.getBoundingClientRect();
    const away = (one) => Math.abs(one.getBoundingClientRect().top - top);
    const all = this.boxes(sideways ? this.order[this.order.indexOf(key) + sideways] : key);
    const next = sideways ? all.sort((a, b) => away(a) - away(b))[0] : by && all[all.indexOf(box) + by];
    next?.focus();
    return Boolean(next);
  }

  // In the order in which they were read: by column as they stand, and down each.
  ticked() {
    const found = [];
    for (const key of this.order)
      for (const entry of this.sections.get(key).el.querySelectorAll("article[data-pick]"))
        for (const at of [...(this.state.ticks.get(entry.dataset.id) ?? [])].sort((a, b) => a - b)) found.push([entry.dataset.id, at]);
    return found;
  }

  compose() {
    this.tell("compose", { parts: this.ticked() });
  }

  drawPicks() {
    const { picks, state } = this;
    picks.hidden = !state.picking;
    if (!state.picking) return;
    const parts = this.ticked(), answers = new Set(parts.map(([id]) => id)).size;
    const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
    const said = parts.length ? `${count(parts.length, "part")} of ${count(answers, "answer")}` : "Choose paragraphs, code and lists of several columns";
    const go = press("primary", "Make one answer", "merge_type", () => this.compose(), true);
    go.disabled = answers < 2;
    go.title = answers < 2 ? "Parts of at least two answers make one" : "";
    const words = piece("span", "said", said);
    words.setAttribute("role", "status");
    picks.replaceChildren(words, go, press("quietly", "Done", "close", () => this.pickParts(false), true));
  }

  // ── The panel at the side ───────────────────────────────────────────────────────────────────────────────────────

  drawPanel() {
    const { panel } = this, told = this.data.panel;
    const sign = JSON.stringify([told, this.data.columns.map((one) => one.name)]);
    if (sign === this.panelDrawn) return;
    this.panelDrawn = sign;
    const another = panel.hidden || this.panelKind !== told?.kind;
    this.panelKind = told?.kind;
    panel.hidden = !told;
    this.root.classList.toggle("sided", Boolean(told));
    if (!told) { panel.replaceChildren(); return; }
    const title = { claims: "Where they disagree", pairs: "How much every two share", shared: "What they have in common" }[told.kind];
    const top = piece("div", "paneltop"), heading = piece("h2", "", title);
    heading.tabIndex = -1;
    top.append(heading, press("small", "Close", "close", () => { panel.hidden = true; this.root.classList.remove("sided"); this.tell("panel", { kind: "" }); this.tools.querySelector("[data-tool=more]").focus(); }));
    panel.setAttribute("aria-label", title);
    panel.replaceChildren(top, { claims: () => this.claims(told), pairs: () => this.pairs(told), shared: () => this.shared(told) }[told.kind]());
    panel.onkeydown = (event) => { if (event.key === "Escape") top.querySelector("button").click(); };
    if (another) heading.focus({ preventScroll: true });
  }

  pill(at) {
    const head = this.data.columns[at], made = piece("span", "pill", head?.name ?? "");
    made.style.setProperty("--lane", head?.color ?? "currentColor");
    return made;
  }

  claims(told) {
    const box = piece("div", "panelbody");
    box.append(this.whoLooked(told));
    const kinds = [["conflict", told.model ? "They disagree" : "They may disagree", "call_split"]];
    if (told.model) kinds.push(["agree", "They agree", "check"], ["only", "Only here", "person"]);
    for (const [kind, title, sign] of kinds) {
      const points = told.points.filter((one) => one.kind === kind);
      if (!points.length && !told.model) continue;
      const group = piece("section", `points ${kind}`), heading = piece("h3");
      heading.append(icon(sign), document.createTextNode(`${title} · ${points.length}`));
      group.append(heading);
      if (!points.length) group.append(piece("p", "hint", `${told.model} named nothing of this kind.`));
      for (const point of points) {
        const one = piece("div", "point");
        if (point.about) one.append(piece("div", "topic", point.about));
        for (const [at, text] of point.says) {
          const made = piece("button", "quote");
          made.type = "button";
          made.append(this.pill(at), document.createTextNode(text));
          made.onclick = () => this.showQuote(at, told.row, text);
          one.append(made);
        }
        group.append(one);
      }
      box.append(group);
    }
    return box;
  }

  whoLooked(told) {
    const box = piece("div", "examined");
    if (told.model) {
      box.append(piece("p", "hint", `${told.model} has read the answers side by side. A click shows the place.`));
      if (told.dropped) box.append(piece("p", "hint", `Left out: ${told.dropped}, whose words do not stand in the answers.`));
      return box;
    }
    box.append(piece("p", "unexamined", "Not examined."), piece("p", "hint",
      told.points.length ? "Rules found what is shown: it is only possible, and they miss most." : "Rules compare plain sentences, and miss most of what answers disagree on."));
    if (told.failed) box.append(piece("p", "hint", told.failed));
    if (told.busy) box.append(piece("p", "hint", "A model is reading them …"), press("quietly", "Never mind", "close", () => this.tell("examine", { row: told.row }), true));
    else {
      if (told.ask[0]) box.append(press("quietly", told.ask[0], "fact_check", () => this.tell("examine", { row: told.row }), true));
      box.append(piece("p", "hint", told.ask[1]));
    }
    return box;
  }

  showQuote(at, row, text) {
    const key = this.data.columns[at].key, cell = this.cells.get(`${key}|${row}`);
    const plain = (words) => words.replace(/[^\p{L}\p{N}]+/gu, " ").trim().toLowerCase();
    const wanted = plain(text);
    const block = [...(cell?.querySelectorAll("[data-b]") ?? [])].find((one) => plain(one.textContent).includes(wanted)) ??
      [...(cell?.querySelectorAll("[data-b]") ?? [])].find((one) => wanted.startsWith(plain(one.textContent).slice(0, 24)));
    if (this.state.collapsed.has(key)) this.fold(key);
    if (this.narrow) { this.panel.hidden = true; this.swipeTo(this.order.indexOf(key)); }
    if (!block) return;
    block.scrollIntoView({ block: "center", inline: "nearest" });
    block.classList.remove("found"); void block.offsetWidth; block.classList.add("found");
  }

  pairs(told) {
    const box = piece("div", "panelbody");
    box.append(piece("p", "hint", "Words in common, as a share of the longer answer. Choose one to pin its column."));
    const table = piece("table", "pairs"), head = piece("tr");
    head.append(piece("td"));
    for (const at of told.columns) { const th = piece("th"); th.scope = "col"; th.append(this.pill(at)); head.append(th); }
    table.append(head);
    told.columns.forEach((at, y) => {
      const line = piece("tr"), name = piece("th");
      name.scope = "row";
      name.append(this.pill(at));
      line.append(name);
      told.columns.forEach((other, x) => {
        const cell = piece("td"), share = told.shares[y][x];
        if (x === y) cell.append(piece("span", "self", "–"));
        else {
          const made = press("share", `${this.data.columns[at].name} and ${this.data.columns[other].name}: ${Math.round(share * 100)} % in common`, "", () => this.pin(this.data.columns[at].key));
          made.append(document.createTextNode(`${Math.round(share * 100)} %`));
          made.style.setProperty("--share", `${Math.round(share * 60)}%`);
          cell.append(made);
        }
        line.append(cell);
      });
      table.append(line);
    });
    const scroll = piece("div", "fk-table");
    scroll.tabIndex = 0;
    scroll.append(table);
    box.append(scroll);
    return box;
  }

  shared(told) {
    const box = piece("div", "panelbody");
    if (told.before) box.append(piece("p", "hint", `${told.before} messages before these`));
    for (const message of told.messages) {
      const entry = piece("article", `entry ${message.role === "user" ? "user" : "assistant"}`);
      entry.append(piece("div", "took", message.who), wordsOf(message.blocks));
      box.append(entry);
    }
    return box;
  }

  part() {
    this.watch.disconnect();
    window.removeEventListener("resize", this.resized);
    document.removeEventListener("pointerdown", this.away, true);
    clearTimeout(this.following);
  }
}

// The address of a page that the navigation reached names no sides: from here on it names those that are shown.
function nameSides(keys) {
  const url = new URL(location.href);
  if (!url.pathname.endsWith("/compare") || url.searchParams.has("with")) return;
  for (const key of keys) url.searchParams.append("with", key);
  history.replaceState(history.state, "", url);
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".surface");
  const surface = (root.surface ??= new Surface(root));
  window.__forkyCompare = surface;
  surface.update(data, setTriggerValue);
  return () => {
    surface.part();
    root.surface = null;
    if (window.__forkyCompare === surface) window.__forkyCompare = null;
  };
}
