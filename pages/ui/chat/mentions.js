// Completes mentions in the text fields of threads: after “@” it lists those who may see the conversation. Handles and
// names are only ever set as textContent.

const FIELD = '[class*="st-key-chat-say"] textarea', MOST = 8;
const state = { people: [], popup: null, field: null, at: 0, found: [] };

function asked(field) {
  const before = field.value.slice(0, field.selectionStart), found = /(?:^|[\s(])@([a-z0-9-]{0,30})$/i.exec(before);
  return found ? found[1].toLowerCase() : null;
}

function fitting(words) {
  const begins = (text) => text.toLowerCase().split(/[\s-]+/).some((word) => word.startsWith(words)) || text.toLowerCase().startsWith(words);
  return state.people.filter(([handle, name]) => begins(handle) || begins(name)).slice(0, MOST);
}

function close() {
  state.popup?.remove();
  state.field?.removeAttribute("aria-activedescendant");
  state.popup = state.field = null;
}

function open(field) {
  const words = asked(field);
  if (words === null) { close(); return; }
  state.found = fitting(words);
  if (!state.found.length) { close(); return; }
  state.popup ??= document.createElement("div");
  Object.assign(state, { field, at: Math.min(state.at, state.found.length - 1) });
  state.popup.className = "fk-handles";
  state.popup.setAttribute("role", "listbox");
  state.popup.setAttribute("aria-label", "People who can be mentioned");
  state.popup.replaceChildren(...state.found.map(([handle, name], at) => {
    const row = document.createElement("div"), more = document.createElement("small");
    row.id = `fk-handle-${at}`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(at === state.at));
    more.textContent = name;
    row.append(`@${handle} `, more);
    row.onpointerdown = (event) => { event.preventDefault(); put(handle); };
    return row;
  }));
  if (!state.popup.isConnected) (document.querySelector(".stMain") ?? document.querySelector(".stApp")).append(state.popup);
  field.setAttribute("aria-activedescendant", `fk-handle-${state.at}`);
  const box = field.getBoundingClientRect(), size = state.popup.getBoundingClientRect();
  state.popup.style.left = `${Math.max(6, Math.min(box.left + 8, innerWidth - size.width - 6))}px`;
  state.popup.style.top = `${box.bottom + size.height + 6 > innerHeight ? Math.max(6, box.top - size.height - 2) : box.bottom + 2}px`;
}

function put(handle) {
  const field = state.field, end = field.selectionStart, before = field.value.slice(0, end).replace(/@[a-z0-9-]*$/i, `@${handle} `);
  const text = before + field.value.slice(end).replace(/^ /, "");
  // React keeps a field's value: it is set as the browser would.
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.setSelectionRange(before.length, before.length);
  close();
}

function typed(event) { if (event.target.matches?.(FIELD)) { state.at = 0; open(event.target); } }

function pressed(event) {
  if (!state.popup || event.target !== state.field) return;
  const many = state.found.length;
  if (event.key === "ArrowDown") state.at = (state.at + 1) % many;
  else if (event.key === "ArrowUp") state.at = (state.at - 1 + many) % many;
  else if ((event.key === "Enter" || event.key === "Tab") && !event.ctrlKey && !event.metaKey) { put(state.found[state.at][0]); event.preventDefault(); event.stopPropagation(); return; }
  else if (event.key === "Enter") { close(); return; }
  else if (event.key === "Escape") { close(); event.preventDefault(); event.stopPropagation(); return; }
  else return;
  event.preventDefault(); event.stopPropagation();
  open(state.field);
}

const left = (event) => { if (event.target === state.field) close(); };

export default function ({ data }) {
  state.people = data.people;
  document.addEventListener("input", typed);
  document.addEventListener("keydown", pressed, true);
  document.addEventListener("focusout", left);
  return () => {
    document.removeEventListener("input", typed);
    document.removeEventListener("keydown", pressed, true);
    document.removeEventListener("focusout", left);
    close();
  };
}
