// The box and its list, which is drawn as far as it is seen. Names are only ever set as text: people and models wrote them.
const ROW = 34, THUMB = 44, MOST = 11.5, AROUND = 5; // Pixels of a row, for a mouse and a thumb; rows shown, and drawn beside these.
const EDGE = 8;

const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// How well a name fits what was typed: 0 is it, 4 does not at all.
function fit(name, typed) {
  if (name === typed) return 0;
  if (name.startsWith(typed)) return 1;
  if (name.includes(typed)) return 2;
  return typed.split(/\s+/).every((word) => name.includes(word)) ? 3 : 4;
}

// As forky_core/views/times.py says it, and its twin on purpose: words that are sent would grow old in a page that stays
// open and go by the server's clock, and Intl.RelativeTimeFormat does not choose between minutes, "yesterday" and dates.
function ago(seconds) {
  if (!seconds) return "empty";
  const now = new Date(), then = new Date(seconds * 1000), since = now / 1000 - seconds;
  if (since < 60) return "just now";
  if (since < 3600) return `${Math.floor(since / 60)} min ago`;
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
  const days = Math.round((midnight(now) - midnight(then)) / 86400000);
  if (days === 0 || since < 6 * 3600) return `${Math.floor(since / 3600)} h ago`;
  if (days === 1) return "yesterday";
  if (days < 7) return `${days} days ago`;
  const day = `${then.getDate()} ${then.toLocaleDateString("en", { month: "short" })}`;
  return then.getFullYear() === now.getFullYear() ? day : `${day} ${then.getFullYear()}`;
}

class Box {
  constructor(root) {
    this.root = root;
    const one = (selector) => root.querySelector(selector);
    [this.input, this.popup, this.list, this.none, this.said] = ["input", ".popup", ".list", ".none", ".said"].map(one);
    this.thumbs = matchMedia("(pointer: coarse)");
    this.open = false; this.fitting = []; this.active = -1; this.sent = 0;
    root.addEventListener("mousedown", (event) => { if (event.target !== this.input) { event.preventDefault(); this.input.focus(); } });
    root.addEventListener("click", (event) => this.clicked(event));
    this.input.addEventListener("input", () => { if (this.open) this.filter(); else this.show(); });
    this.input.addEventListener("blur", () => this.hide());
    this.input.addEventListener("keydown", (event) => this.pressed(event));
    // Streamlit has keys of its own, which it leaves to fields: but it does not see that this is one.
    for (const kind of ["keydown", "keypress", "keyup"])
      this.input.addEventListener(kind, (event) => { if (!(event.ctrlKey || event.metaKey || event.altKey)) event.stopPropagation(); });
    this.list.addEventListener("scroll", () => this.draw());
    this.list.addEventListener("pointermove", (event) => { 
      const row = event.target.closest(".row");
      if (row && (event.movementX || event.movementY)) this.mark(+row.dataset.at); // Not where the list moved below the mouse.
    });
    this.moved = () => { this.place(); this.drawn = null; this.draw(); };
    this.input.disabled = false; // Nobody was heard before.
  }

  hear(data, tell) {
    const other = this.open && JSON.stringify(data.branches) !== JSON.stringify(this.data.branches);
    this.data = data; this.tell = tell; this.names = null;
    if (data.heard >= this.sent) this.sent = 0; // The answer to what was chosen here; what came before it is none.
    this.say();
    this.input.inputMode = this.thumbs.matches && data.branches.length <= MOST ? "none" : "text";
    if (other) this.filter(this.fitting[this.active]?.[0]);
  }

  // What the box says: the branch that was chosen, until the page has answered.
  say() {
    const { now, earlier } = this.sent ? { now: this.chosen, earlier: false } : this.data;
    this.root.classList.toggle("earlier", earlier);
    this.input.placeholder = earlier ? `${now}, earlier` : now;
    this.input.setAttribute("aria-label", `Branch: ${this.input.placeholder}`);
    this.root.title = `${this.input.placeholder}\nSwitch to another branch`;
  }

  choose([name]) {
    const { now, earlier, heard } = this.data, known = name === (this.sent ? this.chosen : now) && (this.sent || !earlier);
    if (!known) {
      this.chosen = name;
      this.sent = Math.max(this.sent, heard) + 1;
      this.tell(name, this.sent); // First of all: the page is worked out while the list closes.
      this.unheard(this.sent);
    }
    this.hide();
    if (this.thumbs.matches) this.input.blur();
  }

  // A message that went astray (the server was away) is not waited for.
  unheard(sent) {
    setTimeout(() => {
      if (this.sent !== sent) return;
      if (document.querySelector(".stApp")?.dataset.testScriptState === "running") { this.unheard(sent); return; }
      this.sent = 0;
      this.say();
    }, 3000);
  }

  show() {
    this.open = true;
    this.popup.showPopover();
    this.input.setAttribute("aria-expanded", "true");
    this.filter(this.data.now);
    window.addEventListener("resize", this.moved);
    window.addEventListener("scroll", this.moved, true);
  }

  hide() {
    this.input.value = "";
    this.say();
    if (!this.open) return;
    this.open = false;
    this.popup.hidePopover();
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.list.replaceChildren();
    this.said.textContent = "";
    window.removeEventListener("resize", this.moved);
    window.removeEventListener("scroll", this.moved, true);
  }

  // The names that fit what was typed, the best first; the branch `at` is marked, or else the first.
  filter(at) {
    const typed = folded(this.input.value.trim()), all = this.data.branches;
    this.names ??= typed ? all.map(([name]) => folded(name)) : null;
    const fits = typed ? this.names.map((name, at) => [fit(name, typed), at]).filter(([how]) => how < 4) : null;
    this.fitting = fits ? fits.sort((a, b) => a[0] - b[0]).map(([, at]) => all[at]) : all;
    this.none.hidden = this.fitting.length > 0;
    this.drawn = null;
    this.active = Math.max(0, this.fitting.findIndex(([name]) => name === at));
    this.said.textContent = `${this.fitting.length} of ${all.length} branches`;
    this.place();
    this.list.scrollTop = Math.max(0, (this.active + 0.5) * this.row - this.list.clientHeight / 2);
    this.draw();
  }

  // The list below the box, or above it where there is more room, and never beyond the edges of the window.
  place() {
    this.row = this.thumbs.matches ? THUMB : ROW;
    const box = this.root.getBoundingClientRect(), high = window.visualViewport?.height ?? innerHeight;
    const below = high - box.bottom - EDGE, above = box.top - EDGE, up = below < 5 * this.row && above > below;
    const width = Math.min(Math.max(box.width, 330), innerWidth - 2 * EDGE);
    const tall = Math.min(this.fitting.length, MOST) * this.row;
    this.list.style.height = `${Math.max(0, Math.min(tall, (up ? above : below) - 16))}px`;
    this.list.style.setProperty("--row", `${this.row}px`);
    Object.assign(this.popup.style, { width: `${width}px`, left: `${Math.max(EDGE, Math.min(box.left, innerWidth - width - EDGE))}px`,
      top: up ? "auto" : `${box.bottom + 3}px`, bottom: up ? `${innerHeight - box.top + 3}px` : "auto" });
  }

  draw() {
    if (!this.open) return;
    const seen = this.list.clientHeight / this.row, first = Math.max(0, Math.floor(this.list.scrollTop / this.row) - AROUND);
    // What is there already stays: a row that goes between a finger's coming and its leaving is not clicked.
    if (this.drawn === first) { this.mark(this.active); return; }
    this.drawn = first;
    const rows = this.fitting.slice(first, first + Math.ceil(seen) + 2 * AROUND).map((row, at) => this.line(row, first + at));
    const end = document.createElement("div"); // It makes the list as long as all of its rows.
    end.setAttribute("role", "presentation");
    end.style.height = `${this.fitting.length * this.row}px`;
    this.list.replaceChildren(end, ...rows);
    this.mark(this.active);
  }

  line([name, changed, facts], at) {
    const made = document.createElement("div"), words = document.createElement("span"), when = document.createElement("span");
    made.className = "row"; words.className = "name"; when.className = "when";
    made.id = `name-${at}`; made.dataset.at = at; made.style.top = `${at * this.row}px`;
    words.dir = "auto"; words.textContent = made.title = name; when.textContent = ago(changed);
    const here = name === this.data.now;
    if (here && this.data.earlier) when.textContent = "to its end";
    if (facts) when.textContent = `${facts} · ${when.textContent}`;
    for (const [key, value] of Object.entries({ role: "option", "aria-selected": here && !this.data.earlier, "aria-label": name,
      "aria-description": when.textContent, "aria-posinset": at + 1, "aria-setsize": this.fitting.length })) made.setAttribute(key, value);
    made.append(words, when);
    return made;
  }

  mark(at) {
    this.active = at;
    for (const row of this.list.querySelectorAll(".row")) row.classList.toggle("active", +row.dataset.at === at);
    if (this.list.querySelector(".active")) this.input.setAttribute("aria-activedescendant", `name-${at}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  go(to) {
    this.active = Math.max(0, Math.min(to, this.fitting.length - 1));
    const top = this.active * this.row, { scrollTop, clientHeight } = this.list;
    if (top < scrollTop) this.list.scrollTop = top;
    if (top + this.row > scrollTop + clientHeight) this.list.scrollTop = top + this.row - clientHeight;
    this.draw();
  }

  clicked(event) {
    const row = event.target.closest(".row");
    if (row) this.choose(this.fitting[+row.dataset.at]);
    else if (event.target.closest(".popup")) return;
    else if (!this.open) this.show();
    else if (!this.input.value) this.hide();
  }

  pressed(event) {
    const { key } = event;
    if (event.ctrlKey || event.metaKey) return;
    const step = Math.max(1, Math.floor(this.list.clientHeight / this.row) - 1);
    const moves = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, PageDown: this.active + step, PageUp: this.active - step,
      Home: 0, End: this.fitting.length };
    if (!this.open) {
      if (!["ArrowDown", "ArrowUp", "Enter", " "].includes(key)) return;
      this.show();
    } else if (key === "Escape" || (key === "ArrowUp" && event.altKey)) this.hide();
    else if (key === "Enter") { if (this.fitting[this.active]) this.choose(this.fitting[this.active]); }
    else if (key in moves) this.go(moves[key]);
    else return;
    event.preventDefault();
  }
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".box");
  root.box ??= new Box(root);
  root.box.hear(data, (branch, n) => setTriggerValue("chosen", { branch, n }));
  return () => root.box.hide();
}
