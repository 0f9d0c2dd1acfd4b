// The branch and the note, side by side. Text is only ever set as textContent: models and people wrote it.
// A change is drawn at once as far as that is plain, and sent as an order with a number; what the page answers counts.

const PATIENCE = 3000; // Milliseconds after which an order that was not answered is sent again.
const RESTS = 220; // Milliseconds for which the mouse rests on a line before the branch is scrolled to it.

function piece(kind, name, text, more = {}) {
  const made = document.createElement(kind);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(more)) made.setAttribute(key, value);
  return made;
}

// Words with code, bold and italics drawn; a link is its words. wording.py draws the same in the notebook.
const INLINE = /`([^`\n]+)`|(?<![\w*])\*\*(?=[^\s*])([^\n]{0,400}?[^\s*])\*\*(?![\w*])|(?<![\w*])\*(?=[^\s*])([^*\n]{0,400}?[^\s*])\*(?![\w*])|~~(?=\S)([^~\n]{0,400}?\S)~~|!?\[([^[\]\n]{1,400})\]\([^()\s]{1,2000}\)/g;
const ITEM = /^\s*[-*+•]\s+(?=\S)/, HEADING = /^\s*#{1,6}\s+(?=\S)/, TABLE = /^\s*\|(.+\|.+)\|\s*$/;

// A line without the sign that makes it an item or a heading, and with its box to tick as one sign.
const begun = (text) => text.replace(ITEM, "").replace(HEADING, "").replace(/^\[([ xX])\] /, (_, ticked) => ticked === " " ? "☐ " : "☑ ");

function worded(made, text) {
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    const [all, code, bold, slanted, struck, linked] = found;
    made.append(text.slice(at, found.index));
    if (code !== undefined) made.append(piece("code", "", code));
    else if (linked !== undefined) worded(made, linked);
    else made.append(worded(piece(bold !== undefined ? "b" : slanted !== undefined ? "i" : "s"), bold ?? slanted ?? struck));
    at = found.index + all.length;
  }
  made.append(text.slice(at));
  return made;
}

// A line by itself: the sign of an item or a heading is drawn by the style, a row of a table in its cells.
function lined(made, text) {
  const table = text.match(TABLE);
  if (table) {
    made.classList.add("cells");
    for (const cell of table[1].split("|")) made.append(worded(piece("span", "cell"), cell.trim()));
    return made;
  }
  if (ITEM.test(text)) made.classList.add("item");
  return worded(made, begun(text));
}

const icon = (name, sign, label) => piece("button", "icon", sign, { type: "button", "data-do": name, "aria-label": label, title: label });
const count = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;

const SPEAKERS = { user: "You", assistant: "Assistant", system: "System", tool: "Tool" };

class Desk {
  constructor(root) {
    this.root = root;
    this.orders = []; this.n = 0; this.open = null; this.drawn = null; this.moved = new Map();
    const panes = piece("div", "panes");
    this.source = this.pane("source"); this.block = this.pane("block");
    this.said = piece("span", "said", "", { role: "status" });
    panes.append(this.source.pane, this.block.pane);
    root.append(panes, this.said);
    for (const kind of ["click", "change", "keydown", "pointerover", "pointerleave", "focusin", "focusout"])
      panes.addEventListener(kind, (event) => this[kind](event));
    this.sight = new ResizeObserver(() => requestAnimationFrame(() => this.fit()));
  }

  pane(name) {
    const pane = piece("section", `pane ${name}`), top = piece("div", "top"), scroll = piece("div", "scroll");
    pane.append(top, scroll);
    return { pane, top, scroll };
  }

  hear(data, tell) {
    const other = this.data?.serial !== data.serial;
    if (other) { this.orders = []; this.open = null; }
    this.data = data; this.tell = tell;
    this.n = Math.max(this.n, data.heard);
    this.orders = this.orders.filter((order) => order.n > data.heard);
    this.root.classList.toggle("fills", data.fills);
    this.drawSource(); this.drawBlock(); this.mark(); this.fit();
  }

  // The panes reach to the bottom of the window, whatever stands above them.
  fit() {
    const main = document.querySelector(".stMain"), top = this.root.getBoundingClientRect().top + (main?.scrollTop ?? 0);
    this.root.style.setProperty("--above", `${Math.round(top)}px`);
  }

  watch() {
    const all = document.querySelector(".stMainBlockContainer");
    if (all) this.sight.observe(all);
    addEventListener("resize", this.fitted ??= () => this.fit());
  }

  rest() {
    clearTimeout(this.timer);
    this.sight.disconnect();
    removeEventListener("resize", this.fitted);
  }

  order(what) {
    this.orders.push({ n: ++this.n, ...what });
    this.send();
  }

  send() {
    this.tell({ of: this.data.serial, orders: this.orders });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (!this.orders.length) return;
      if (document.querySelector(".stApp")?.dataset.testScriptState !== "running") this.send();
    }, PATIENCE);
  }

  // Whether a line of the branch stands in the note, with what was asked for and not answered yet.
  has(key) {
    const asked = this.orders.findLast((order) => order.key === key && (order.act === "in" || order.act === "out"));
    return asked ? asked.act === "in" : key in this.data.quoted;
  }

  toggle(key) {
    const out = this.has(key);
    this.order({ act: out ? "out" : "in", key });
    this.said.textContent = out ? "Taken out of the note." : "Brought into the note.";
    this.mark();
  }

  // --- the branch

  drawSource() {
    const { names, stretches } = this.data, { top, scroll, pane } = this.source, drawn = JSON.stringify(stretches);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const held = scroll.scrollTop, focused = this.focus();
    pane.setAttribute("aria-label", `What “${names[0]}” says`);
    const said = stretches.reduce((sum, one) => sum + (one.gap ?? one.messages.length), 0);
    top.replaceChildren(piece("b", "", names[0]), piece("span", "quiet", `${count(said, "message")}. Press a line to bring it in or take it out.`));
    scroll.replaceChildren(...stretches.flatMap((one) => (one.gap ? [this.gap(one)] : one.messages.map((message) => this.message(message)))));
    scroll.scrollTop = held;
    this.refocus(focused);
  }

  gap(one) {
    return piece("button", "gap", `⋯ ${count(one.gap, "message")} not shown here. Show more`, { type: "button", "data-do": "open", "data-key": one.key });
  }

  message(message) {
    const made = piece("div", `message ${message.role}${message.fresh ? " fresh" : ""}`, undefined, { "data-message": message.id });
    const head = piece("div", "head");
    if (message.number) head.append(piece("a", "number", message.number, { href: message.href, target: "_blank", rel: "noopener",
      title: `${message.short}: show it in its branch` }));
    head.append(piece("b", "", message.who));
    if (message.left) head.append(piece("span", "quiet", message.rows.length ? "Left out" : "It has no words that can be brought in"));
    made.append(head);
    for (const row of message.rows) {
      const [[, first, kind]] = row, item = ITEM.test(first) && first.includes("`");
      const line = piece("div", `row ${item ? "prose" : kind}`);
      for (const [at, [key, text, shape]] of row.entries()) {
        const drawn = shape === "prose" || shape === "heading" || (ITEM.test(text) && text.includes("`"));
        const words = piece("span", "piece", drawn ? undefined : shape === "file" ? `📎 ${text}` : text,
          { role: "checkbox", tabindex: "-1", "data-key": key, "aria-checked": "false" });
        if (drawn) lined(words, text);
        if (at) line.append(" ");
        line.append(words);
      }
      made.append(line);
    }
    return made;
  }

  // --- the note

  drawBlock() {
    const { names, sections, questions, struck } = this.data, { top, scroll, pane } = this.block;
    const focused = this.focus(), held = scroll.scrollTop;
    pane.setAttribute("aria-label", `What the model of “${names[1]}” will read`);
    top.replaceChildren(piece("b", "", `into ${names[1]}`));
    const titles = sections.map((one) => one.title), movable = titles.filter(Boolean);
    const rows = [];
    rows.push(...questions.map((one) => this.question(one, true)));
    for (const section of sections) {
      const made = piece("div", "section", undefined, { "data-section": section.title });
      if (section.title && (section.title !== "Said" || movable.length > 1)) made.append(this.title(section.title, section.shown, movable));
      let before = null;
      for (const line of section.lines) { made.append(this.line(line, before)); before = line; }
      rows.push(made);
    }
    if (!sections.length) rows.push(piece("div", "none", "Nothing of the branch is in the note. Press a line of the branch to bring it in."));
    if (struck.length) rows.push(piece("div", "title none", `${count(struck.length, "sentence")} left out of the note`));
    for (const [at, [sentence, why, href]] of struck.entries()) {
      const made = piece("div", "struck"), back = piece("button", "act", "Bring it back", { type: "button", "data-do": "back", "data-key": `${at}` });
      made.append(piece("s", "", sentence), this.known("format_strikethrough", why, href), back);
      rows.push(made);
    }
    scroll.replaceChildren(...rows);
    scroll.scrollTop = held;
    this.refocus(focused);
  }

  // What is to be known of a line, below it.
  known(sign, words, href) {
    const made = piece("div", `known ${sign}`);
    made.append(piece("span", "icon sign", sign, { "aria-hidden": "true" }), piece("span", "", words));
    if (href) made.append(piece("a", "", "Show it", { href, target: "_blank", rel: "noopener" }));
    return made;
  }

  // A conflict: what can be taken, and who says it.
  question({ hash, about, options, own, result, said }, titled = false) {
    const made = piece("fieldset", "question"), ways = piece("div", "ways"), where = piece("div", "quiet", "Said in: ");
    made.append(piece("legend", titled ? "" : "said", titled ? about : `What holds of ${about}`), ways);
    for (const [take, label, caption, taken] of options) {
      const way = piece("label", "way"), words = piece("span");
      const choice = piece("input", "", undefined, { type: "radio", name: hash, value: take, "data-key": `${hash} ${take}` });
      choice.checked = taken;
      words.append(piece("b", "", label));
      if (/^(both|text|open)$/.test(take)) way.title = caption;
      else words.append(piece("span", "quiet", caption));
      way.append(choice, words);
      ways.append(way);
    }
    if (own !== null) {
      const field = piece("input", "own", undefined, { type: "text", maxlength: "400", "aria-label": "What holds", "data-key": `${hash} own` });
      field.value = own;
      made.append(field);
    }
    if (result) made.append(piece("div", "quiet", `→ ${result}`));
    for (const [side, short, href] of said) where.append(piece("a", "", `${side} ${short}`, { href, target: "_blank", rel: "noopener" }), " ");
    made.append(where);
    return made;
  }

  change(event) {
    const { name, value, type, dataset } = event.target;
    if (type === "radio") this.order({ act: "settle", key: name, take: value });
    else if (event.target.matches(".own")) this.order({ act: "settle", key: dataset.key.split(" ")[0], take: "text", text: value });
  }

  title(name, shown, movable) {
    const made = piece("div", "title"), tools = piece("div", "tools"), at = movable.indexOf(name);
    const up = icon("up", "arrow_upward", `Move “${shown}” up`), down = icon("down", "arrow_downward", `Move “${shown}” down`);
    up.disabled = at === 0; down.disabled = at === movable.length - 1;
    up.dataset.key = down.dataset.key = `section ${name}`;
    up.dataset.section = down.dataset.section = name;
    if (movable.length > 1) tools.append(up, down);
    made.append(piece("h2", "", shown), tools);
    return made;
  }

  line(line, before) {
    const open = this.open === line.key, id = line.key;
    const made = piece("div", `line${open ? " open" : ""}${line.fresh ? " fresh" : ""}`, undefined, { tabindex: "0", "data-key": id, role: "group", "aria-label": `${line.text}. ${line.why}` });
    const words = piece("div", "words"), tools = piece("div", "tools");
    if (line.who && (before?.who !== line.who || before.cites[0]?.id !== line.cites[0]?.id)) words.append(piece("span", "who", SPEAKERS[line.who] ?? line.who));
    for (const [at, [text, href, short]] of line.words.entries())
      if (line.code) words.append(piece("code", "", text));
      else if (short) words.append(this.cite({ label: text, href, short }));
      else if (href) words.append(piece("a", "passage", text, { href, target: "_blank", rel: "noopener", title: "Open what it cites" }));
      else if (at) worded(words, text);
      else if (line.words.length === 1 && TABLE.test(text)) words.append(lined(piece("span"), text));
      else { words.classList.toggle("item", ITEM.test(text)); worded(words, begun(text)); }
    words.classList.toggle("code", line.code);
    const last = words.lastChild, word = last?.nodeType === Node.TEXT_NODE && last.data.match(/\S{1,30}$/)?.[0];
    const tail = word ? piece("span", "tail", word) : words; // A number stays beside the last word.
    if (word) { last.data = last.data.slice(0, -word.length); words.append(tail); }
    for (const cite of line.cites) tail.append(this.cite(cite));
    const why = icon("why", "help", "Why is this here?"), out = icon("out", "close", "Take it out");
    why.dataset.key = out.dataset.key = id;
    why.title = line.why; why.setAttribute("aria-expanded", String(open));
    if (this.data.talks) {
      const talk = icon("comment", "add_comment", "Comment on this line");
      talk.dataset.key = id;
      tools.append(talk);
    }
    tools.append(why, out);
    made.append(words, tools, ...line.marks.map((mark) => this.known(...mark)));
    if (line.question) made.append(this.question(line.question));
    if (open) {
      const told = piece("div", "why", line.why);
      const [cite] = line.cites;
      if (cite) told.append(piece("a", "", "Show it in its branch", { href: cite.href, target: "_blank", rel: "noopener" }));
      made.append(told);
    }
    return made;
  }

  cite({ label, href, short, id = "" }) {
    return piece("a", "number cite", label, { href, target: "_blank", rel: "noopener", title: `${short}: show it in its branch`, "data-message": id });
  }

  // --- what is lit and pressed

  mark() {
    let first = null;
    for (const one of this.source.scroll.querySelectorAll(".piece")) {
      first ??= one;
      one.setAttribute("aria-checked", String(this.has(one.dataset.key)));
      one.classList.toggle("told", one.dataset.key in this.data.told);
    }
    if (first && !this.source.scroll.querySelector('.piece[tabindex="0"]')) first.tabIndex = 0;
  }

  light({ pieces = [], lines = [], messages = [] } = {}) {
    const has = (list, key) => list.includes(key);
    for (const one of this.source.scroll.querySelectorAll(".piece")) one.classList.toggle("lit", has(pieces, one.dataset.key));
    for (const one of this.source.scroll.querySelectorAll(".message")) one.classList.toggle("lit", has(messages, one.dataset.message));
    for (const one of this.block.scroll.querySelectorAll(".line")) one.classList.toggle("lit", has(lines, one.dataset.key));
  }

  lineOf(key) { return this.data.sections.flatMap((one) => one.lines).find((line) => line.key === key); }

  // Lights what belongs to the element, and says what of the branch that is.
  related(target) {
    const line = target.closest?.(".line"), words = target.closest?.(".piece");
    if (line) {
      const one = this.lineOf(line.dataset.key);
      if (!one) return null;
      return { pieces: one.from, messages: one.cites.map((cite) => cite.id), lines: [] };
    }
    if (words) return { lines: this.data.told[words.dataset.key] ?? [] };
    return null;
  }

  reach({ pieces = [], messages = [] }) {
    const { scroll } = this.source;
    const first = scroll.querySelector(".piece.lit") ?? scroll.querySelector(".message.lit");
    if (!first || !(pieces.length || messages.length)) return;
    const box = scroll.getBoundingClientRect(), at = first.getBoundingClientRect();
    if (at.top >= box.top && at.bottom <= box.bottom) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    scroll.scrollTo({ top: scroll.scrollTop + at.top - box.top - box.height / 3, behavior: calm ? "auto" : "smooth" });
  }

  pointerover(event) {
    if (event.pointerType === "touch") return;
    const found = this.related(event.target);
    this.light(found ?? {});
    clearTimeout(this.resting);
    if (found && !event.target.closest(".source")) this.resting = setTimeout(() => this.reach(found), RESTS);
  }

  pointerleave() { this.light(); clearTimeout(this.resting); }

  focusin(event) {
    if (!event.target.matches(":focus-visible")) return;
    const found = this.related(event.target);
    if (found) { this.light(found); if (!event.target.closest(".source")) this.reach(found); }
  }

  focusout() { this.light(); }

  // --- what a person does

  click(event) {
    const button = event.target.closest("[data-do]"), words = event.target.closest(".piece"), line = event.target.closest(".line");
    if (event.target.closest("a")) return;
    if (button) this.press(button);
    else if (words) { if (getSelection()?.toString()) return; this.rove(words); this.toggle(words.dataset.key); }
    else if (line && !event.target.closest(".why, .question") && !getSelection()?.toString()) this.expand(line.dataset.key);
  }

  press(button) {
    const { do: what, key, section } = button.dataset;
    if (what === "out") this.take(key);
    else if (what === "why") this.expand(key);
    else if (what === "open" || what === "back") this.order({ act: what, key });
    else if (what === "comment") this.order({ act: what, text: this.lineOf(key)?.text ?? "" });
    else if (what === "up" || what === "down") this.move(section, what === "up" ? -1 : 1);
  }

  take(key) {
    const line = this.block.scroll.querySelector(`.line[data-key="${key}"]`);
    const next = line?.nextElementSibling ?? line?.previousElementSibling;
    this.order({ act: "out", key });
    // Drawn at once; the page's answer draws the rest.
    for (const section of this.data.sections) section.lines = section.lines.filter((one) => one.key !== key);
    for (const [piece_, line_] of Object.entries(this.data.quoted)) if (line_ === key) delete this.data.quoted[piece_];
    this.data.sections = this.data.sections.filter((one) => one.lines.length);
    this.said.textContent = "Taken out of the note.";
    this.drawBlock(); this.mark(); this.light();
    const beside = next?.dataset?.key && this.block.scroll.querySelector(`.line[data-key="${next.dataset.key}"]`);
    (beside || this.block.scroll.querySelector(".line"))?.focus({ preventScroll: true });
  }

  move(name, by) {
    const sections = this.data.sections, named = sections.filter((one) => one.title), at = named.findIndex((one) => one.title === name);
    const to = at + by;
    if (at < 0 || to < 0 || to >= named.length) return;
    [named[at], named[to]] = [named[to], named[at]];
    this.data.sections = [...sections.filter((one) => !one.title), ...named];
    this.order({ act: "arrange", sections: named.map((one) => one.title) });
    this.said.textContent = `“${name}” is section ${to + 1} of ${named.length}.`;
    this.drawBlock();
  }

  expand(key) {
    this.open = this.open === key ? null : key;
    this.drawBlock();
    const one = this.lineOf(key);
    if (one && this.open) {
      const found = { pieces: one.from, messages: one.cites.map((cite) => cite.id) };
      this.light(found); this.reach(found);
    }
  }

  rove(words) {
    this.source.scroll.querySelector('.piece[tabindex="0"]')?.setAttribute("tabindex", "-1");
    words.tabIndex = 0;
  }

  keydown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const words = event.target.closest(".piece"), line = event.target.closest(".line"), { key } = event;
    if (words) {
      const all = [...this.source.scroll.querySelectorAll(".piece")], at = all.indexOf(words);
      const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[key];
      if (key === " " || key === "Enter") this.toggle(words.dataset.key);
      else if (to === undefined) return;
      else if (all[to]) { this.rove(all[to]); all[to].focus(); }
    } else if (line && event.target === line) {
      const all = [...this.block.scroll.querySelectorAll(".line")], at = all.indexOf(line);
      if (key === "Delete" || key === "Backspace") this.take(line.dataset.key);
      else if (key === "Enter" || key === " ") this.expand(line.dataset.key);
      else if (key === "ArrowDown") all[at + 1]?.focus();
      else if (key === "ArrowUp") all[at - 1]?.focus();
      else return;
    } else return;
    event.preventDefault(); event.stopPropagation();
  }

  // Where the cursor is, so that drawing anew leaves it there.
  focus() {
    const at = this.root.getRootNode().activeElement;
    if (!at || !this.root.contains(at)) return null;
    return { key: at.dataset.key, what: at.dataset.do, source: this.source.pane.contains(at) };
  }

  refocus(held) {
    if (!held?.key || this.root.getRootNode().activeElement?.isConnected && this.root.contains(this.root.getRootNode().activeElement)) return;
    const within = held.source ? this.source.scroll : this.block.scroll;
    const all = [...within.querySelectorAll("[data-key]")].filter((one) => one.dataset.key === held.key);
    const same = all.find((one) => one.dataset.do === held.what && !one.disabled) ?? all.find((one) => !one.disabled);
    same?.focus({ preventScroll: true });
  }
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".desk");
  root.desk ??= new Desk(root);
  root.desk.hear(data, (edits) => setTriggerValue("edits", edits));
  root.desk.watch();
  return () => root.desk.rest();
}
