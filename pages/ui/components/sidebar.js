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

const drawn = new WeakMap(); // What each list shows, as JSON: it is made anew where that has changed.

export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector(".fk-chats"), [here, begins, more, whose, days] = data, said = JSON.stringify(data);
  if (drawn.get(list) === said) return;
  drawn.set(list, said);
  const ask = (what) => setTriggerValue("asked", { ...what, n: Date.now() });
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
}
