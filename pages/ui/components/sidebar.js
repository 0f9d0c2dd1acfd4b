// The browser's half of pages/ui/components/sidebar.py. Titles are only ever set as text.

const piece = (kind, name, text) => {
  const made = document.createElement(kind);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
};
const button = (name, icon, label, press) => {
  const made = piece("button", name), sign = piece("span", "fk-chats-icon", icon);
  made.type = "button";
  sign.setAttribute("aria-hidden", "true");
  made.append(sign, label);
  made.addEventListener("click", press);
  return made;
};
const quiet = (name, icon, label, press) => {
  const made = button(name, icon, "", press);
  made.title = label;
  made.setAttribute("aria-label", label);
  return made;
};
const SIGNS = { writing: "An answer is being written", new: "Something is new" };

// On a phone the list covers the page: what was pressed leads out of it.
const fold = () => {
  if (innerWidth < 768) document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
};

function row([id, branch, title, about, sign, program, asker], here, isPinned, whose, ask) {
  const made = piece("div", "fk-chats-row"), link = piece("a", "", title);
  const query = new URLSearchParams({ c: id, b: branch });
  link.href = `./?${query}`;
  link.title = `${title}\n${about}${program ? `\n${program}` : ""}`;
  link.dir = "auto";
  if (whose === "programs") link.append(piece("small", "", program));
  if (id === here) link.setAttribute("aria-current", "page");
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    ask({ open: id });
    fold();
  });
  made.append(link);
  if (sign) {
    const dot = piece("span", `fk-chats-is-${sign}`);
    dot.setAttribute("role", "img");
    dot.title = asker && sign === "new" ? `${asker} asks you to look at a request` : SIGNS[sign];
    dot.setAttribute("aria-label", dot.title);
    made.append(dot);
  }
  const label = isPinned ? `Unpin “${title}”` : `Pin “${title}” to the top`;
  const pin = quiet("fk-chats-pin", "keep", label, () => ask({ pin: id, on: !isPinned }));
  pin.setAttribute("aria-pressed", String(isPinned));
  made.append(pin);
  return made;
}

// The names of the folders that were opened; the one with the chat that is shown is open, too.
const OPENED = "forky.folders";
const opened = () => {
  try { return new Set(JSON.parse(localStorage.getItem(OPENED) ?? "[]")); } catch { return new Set(); }
};
function folder(name, rows, holds) {
  const made = piece("details"), head = piece("summary");
  const title = piece("h2", "", name);
  title.dir = "auto";
  head.append(title, piece("span", "", String(rows.length)));
  made.open = holds || opened().has(name);
  head.addEventListener("click", () => {
    const names = opened();
    if (made.open) names.delete(name); else names.add(name);
    try { localStorage.setItem(OPENED, JSON.stringify([...names])); } catch { /* Storage is refused. */ }
  });
  made.append(head, ...rows);
  return made;
}

// Milliseconds between two looks whether the page has a connection, until one that failed is opened again, until the list
// is asked for that others changed (what this tab does itself is drawn by then), and until that is asked for once more.
const LOOK = 1500, RETRY = 5000, SOON = 500, AGAIN = 2000;
const pass = (name, detail) => window.dispatchEvent(new CustomEvent(name, { detail }));

// Word of what others do comes by the connection of the page (live_updates.js). A page that has none gets one from here,
// which tells the bell, too; not while a reply is streamed, since a browser opens only six to a server.
class News {
  constructor() {
    this.heard = ({ detail }) => { clearTimeout(this.asking); this.asking = setTimeout(() => this.told(detail.at, 3), SOON); };
    this.turned = () => (document.hidden ? this.close() : this.later(0));
    window.addEventListener("forky-chats", this.heard);
    document.addEventListener("visibilitychange", this.turned);
    this.later(LOOK);
  }

  told(state, left) {
    if (state === this.state || !left) return;
    const rests = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning";
    if (rests) this.ask({ news: 1 });
    this.asking = setTimeout(() => this.told(state, rests ? left - 1 : left), rests ? AGAIN : SOON);
  }

  later(wait) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.connect(), wait);
  }

  connect() {
    if (window.__forkyMoves || document.querySelector(".fk-live")) this.close();
    else if (!this.source && !document.hidden) {
      this.source = new EventSource(this.url);
      for (const name of ["inbox", "chats"])
        this.source.addEventListener(name, (event) => pass(`forky-${name}`, JSON.parse(event.data)));
      this.source.addEventListener("error", () => { this.close(); this.later(RETRY); });
    }
    this.later(LOOK);
  }

  close() {
    this.source?.close();
    this.source = null;
  }

  part() {
    this.close();
    clearTimeout(this.waiting);
    clearTimeout(this.asking);
    window.removeEventListener("forky-chats", this.heard);
    document.removeEventListener("visibilitychange", this.turned);
  }
}

const drawn = new WeakMap(); // What each list shows, as JSON: it is made anew where that has changed.
let news = null;
export default function ({ data, parentElement, setTriggerValue }) {
  const [here, begins, more, whose, days, url, state] = data, list = parentElement.querySelector(".fk-chats");
  const ask = (what) => setTriggerValue("asked", { ...what, n: Date.now() });
  Object.assign((news ??= new News()), { url, state, ask });
  const part = () => { news?.part(); news = null; };
  const said = JSON.stringify([here, begins, more, whose, days]);
  if (drawn.get(list) === said) return part;
  drawn.set(list, said);
  const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const tools = piece("div", "fk-chats-tools");
  if (begins) tools.append(button("fk-chats-new", "edit_square", "New chat", () => { ask({ new: 1 }); fold(); }));
  const find = button("fk-chats-find", "search", "Search", () => window.dispatchEvent(new CustomEvent("forky-find")));
  const mac = /mac|iphone|ipad/i.test(navigator.userAgentData?.platform ?? navigator.platform ?? "");
  find.append(piece("kbd", "", mac ? "⌘ K" : "Ctrl K"));
  tools.append(find);
  if (whose) {
    const kinds = piece("div", "fk-chats-whose");
    kinds.setAttribute("role", "group");
    kinds.setAttribute("aria-label", "Whose chats");
    for (const [kind, label] of [["mine", "Mine"], ["programs", "Programs’"]]) {
      const made = piece("button", "", label);
      made.type = "button";
      made.setAttribute("aria-pressed", String(kind === whose));
      made.addEventListener("click", () => ask({ whose: kind }));
      kinds.append(made);
    }
    tools.append(kinds);
  }
  list.replaceChildren(tools, ...days.flatMap(([name, chats, isFolder]) => {
    const rows = chats.map((one) => row(one, here, !isFolder && name === "Pinned", whose, ask));
    return isFolder ? [folder(name, rows, chats.some(([id]) => id === here))] : [piece("h2", "", name), ...rows];
  }));
  if (more) list.append(button("fk-chats-more", "expand_more", "Show more", () => ask({ more: 1 })));
  if (focused) list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  return part;
}
