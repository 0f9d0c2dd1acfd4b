// One listener for all buttons of the cells, the "…" menu, the clipboard. Uses scrolling.js
// and cursor.js, which come before it.

const state = (window.__forkyActs ??= { copied: 0, n: 0 });

const RARE = { regenerate: "refresh", edit: "edit", copy: "content_copy", pick: "check_box_outline_blank", threads: "forum", undo: "undo" };

// The message that a button is about: the button or the card of a message names it, or it is the one in whose cell the
// button stands.
const of = (button) => {
  const owner = button.closest("[data-id], [data-cell]");
  return owner?.dataset.id ?? owner?.dataset.cell ?? "";
};

function hovered(event) {
  const button = event.target.closest?.("[data-act][aria-label]:not([title])");
  if (button) button.title = button.getAttribute("aria-label");
}

function closeMenu() {
  state.popup?.remove();
  state.opener?.setAttribute("aria-expanded", "false");
  state.opener?.focus();
  state.popup = state.opener = null;
}

// The same menu for a row of the graph, at a place of the window: a point that is nowhere else stands for its button.
function openAt(id, left, top, back) {
  const point = document.createElement("span");
  point.dataset.id = id;
  point.style.cssText = `position: fixed; left: ${left}px; top: ${top}px; width: 0; height: 0`;
  document.querySelector(".stApp").append(point);
  point.focus = () => { point.remove(); back?.focus({ preventScroll: true }); };
  openMenu(point);
}

// The first lines, or those of one of them: what it can take away, how it can be compared.
function openMenu(opener, way = "", by = null) {
  if (way) state.popup.remove(); else closeMenu();
  const popup = document.createElement("div"), acts = opener.closest(".fk-acts");
  popup.className = "fk-menu fk-still"; // A line under a pointer that rests is not the one that is meant.
  popup.addEventListener("pointermove", () => popup.classList.remove("fk-still"), { once: true });
  popup.tabIndex = -1;
  popup.setAttribute("role", "menu");
  popup.setAttribute("aria-label", way ? state.menu.find(([name]) => name === way)[2] : "More about this message");
  const rare = [...(way ? [] : acts?.querySelectorAll("button") ?? [])].filter((one) => !one.offsetParent && one.dataset.act !== "fork")
    .map((one) => [one.dataset.act, RARE[one.dataset.act], one.getAttribute("aria-label")]);
  const branches = acts?.querySelector('[data-act="fork"]')?.offsetParent; // On a phone most messages have no such button.
  const here = state.menu.filter(([name, , , of]) => of === way && !(branches && name === "fork"));
  for (const [name, icon, label, , why] of [...rare, ...here]) {
    const item = document.createElement(name === "present" ? "a" : "button");
    item.setAttribute("role", "menuitem");
    if (name === "present") {
      item.href = `${state.present}?m=${encodeURIComponent(of(opener).replace(/^b2:/, ""))}`;
      item.target = "_blank";
    } else item.type = "button";
    item.dataset.act = name; item.dataset.id = of(opener);
    item.append(said("fk-icon", icon), label);
    item.firstChild.setAttribute("aria-hidden", "true");
    if (why) item.append(said("fk-why", why));
    popup.append(item);
  }
  const took = acts?.closest(".fk-head")?.querySelector(".fk-took")?.textContent;
  if (took && !way) popup.append(said("fk-menu-heading", took));
  document.querySelector(".stApp").append(popup);
  state.popup = popup; state.opener = opener;
  place();
  opener.setAttribute("aria-expanded", "true");
  (by?.detail ? popup : popup.firstElementChild)?.focus(); // A press of the pointer marks no line.
}

function said(name, text) {
  const made = document.createElement("span");
  made.className = name; made.textContent = text;
  return made;
}

function anchored() {
  const box = state.opener.getBoundingClientRect(), from = box.width ? 0 : state.popup.offsetWidth;
  return { right: box.right + from, top: box.top, bottom: box.bottom }; // Of a point, to the right.
}

// Beside its button and inside the window.
function place() {
  const at = anchored(), size = state.popup.getBoundingClientRect(), { style } = state.popup;
  style.left = Math.max(6, Math.min(at.right - size.width, innerWidth - size.width - 6)) + "px";
  style.top = (at.bottom + size.height + 6 > innerHeight ? Math.max(6, at.top - size.height - 2) : at.bottom + 2) + "px";
}

// A number in an answer is a link, so that it can be copied and opened beside; a plain click opens it here. Those to a
// page of the app Streamlit follows itself.
function cited(event) {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return null;
  const link = event.target.closest?.('[class*="st-key-cell-"] a[href]');
  const url = link && new URL(link.href, document.baseURI);
  if (url?.origin !== location.origin) return null;
  const given = url.searchParams, document_ = given.get("d"), message = given.get("m");
  if (document_ && given.has("of")) return ["document", `doc:${document_}#${given.get("n") ?? 1}`];
  return message && given.has("c") ? ["visit", `b2:${message}`] : null;
}

function clicked(event) {
  const act = cited(event);
  if (act) { event.preventDefault(); state.send(...act); return; }
  const button = event.target.closest?.("[data-act]");
  if (!button) { if (state.popup && !state.popup.contains(event.target)) closeMenu(); return; }
  if (button.dataset.act === "present") { closeMenu(); return; } // The browser follows the link.
  event.preventDefault();
  if (button.dataset.act === "more") { state.opener === button ? closeMenu() : openMenu(button, "", event); return; }
  if (button.dataset.act.startsWith("ways-")) { openMenu(state.opener, button.dataset.act, event); return; }
  if (state.popup) closeMenu();
  if (button.dataset.act === "sibling" && window.__forkyShowAhead?.(of(button))) seekEnd();
  state.send(button.dataset.act, of(button), button.dataset.act === "threads" ? state.selected : undefined);
}

// What is selected in the cell of the button, before the press takes the selection away.
function reached(event) {
  if (event.target.closest?.(".fk-menu")) return; // It was reached when the menu opened.
  const opener = event.target.closest?.('[data-act="threads"], [data-act="more"]');
  const cell = opener?.closest('[class*="st-key-cell-"]'), chosen = getSelection();
  const inside = cell && !chosen.isCollapsed && cell.contains(chosen.anchorNode) && cell.contains(chosen.focusNode);
  state.selected = inside ? chosen.toString().slice(0, 600) : "";
}

function pressed(event) {
  if (!state.popup) return;
  const items = [...state.popup.querySelectorAll('[role="menuitem"]')], at = items.indexOf(document.activeElement);
  if (event.key === "Escape" || event.key === "Tab") closeMenu();
  else if (event.key === "ArrowDown") items[(at + 1) % items.length].focus();
  else if (event.key === "ArrowUp") items.at(Math.max(at, 0) - 1).focus();
  else if (event.key === "Home") items[0].focus();
  else if (event.key === "End") items.at(-1).focus();
  else return;
  event.preventDefault(); event.stopPropagation();
}

function copy(text) {
  const old = () => {
    const field = document.createElement("textarea");
    field.value = text; document.body.append(field); field.select(); document.execCommand("copy"); field.remove();
  };
  navigator.clipboard ? navigator.clipboard.writeText(text).catch(old) : old();
}

export default function ({ data, setTriggerValue }) {
  state.send = (name, id, quote) => setTriggerValue("act", { name, id, ...(quote ? { quote } : {}), n: Date.now() + state.n++ });
  state.openAt = openAt; state.close = () => { if (state.popup) closeMenu(); }; state.present = data.present;
  state.menu = data.menu;
  if (!state.listening) {
    state.listening = true;
    document.addEventListener("click", clicked);
    document.addEventListener("pointerdown", reached, true);
    document.addEventListener("pointerover", hovered);
    document.addEventListener("keydown", pressed, true);
  }
  if (data.copied[0] > state.copied) { state.copied = data.copied[0]; copy(data.copied[1]); }
  const still = keepPlace(data), calm = keepCursor(data);
  return () => {
    document.removeEventListener("click", clicked);
    document.removeEventListener("pointerdown", reached, true);
    document.removeEventListener("pointerover", hovered);
    document.removeEventListener("keydown", pressed, true);
    closeMenu(); still(); calm(); state.listening = false;
  };
}
