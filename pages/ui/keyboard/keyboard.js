// The keys themselves. They are heard before Streamlit's own, and left to whoever has the focus and writes.

const COMPOSER = ".st-key-chat-composer textarea";
const WRITES = "input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable=''], [contenteditable=true], iframe, "
  + "[role=textbox], [role=combobox], [role=searchbox], [role=listbox], [role=menu], [role=slider], [role=spinbutton], [role=dialog], dialog";
const OPEN = '[data-testid="stDialog"], [role="dialog"], .fk-menu';
const LISTS = "jkabf"; // The keys of the list beside the graph.
const BY_KEY = Object.fromEntries(VERBS.filter((verb) => verb.key.length === 1).map((verb) => [verb.key, verb]));

const isSomethingOpen = (what = OPEN) => [...document.querySelectorAll(what)].some(seen)
  || [...(root?.querySelectorAll("dialog") ?? [])].some((one) => one.open);

const inList = (path) => path.some((one) => one.id === "twin-list");

function busy(event) {
  const path = event.composedPath().filter((one) => one instanceof Element);
  // The head of a column of Compare has keys of its own.
  if (path[0]?.dataset?.keys?.includes(event.key.toLowerCase())) return true;
  if (inList(path)) return LISTS.includes(event.key.toLowerCase());
  return path.some((one) => one.matches(WRITES)) || document.activeElement?.tagName === "IFRAME"
    || isSomethingOpen();
}

function pressed(event) {
  if (!root?.isConnected && !root?.host?.isConnected) return;
  const typesSign = event.getModifierState?.("AltGraph");
  const modified = (event.ctrlKey || event.metaKey || event.altKey) && !typesSign;
  if (modified) {
    const opens = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    if (!opens || document.querySelector('[data-testid="stDialog"]')) return;
    if (palette().open) shut(palette());
    else { for (const dialog of root.querySelectorAll("dialog")) shut(dialog); show("palette"); }
  } else {
    const verb = BY_KEY[event.key];
    if (!verb || !singles() || busy(event)) return;
    const way = wayOf(verb);
    if (!way) return;
    carryOut(way);
  }
  event.preventDefault();
  event.stopImmediatePropagation();
}

let ends = [];

export default function ({ data, parentElement, setTriggerValue }) {
  ask = (what) => setTriggerValue("asked", { ...what, n: Date.now() });
  const came = data.places !== parentElement.told;
  parentElement.told = data.places;
  places = JSON.parse(data.places);
  setUp(parentElement);
  if (came) placesCame();
  if (data.tour !== parentElement.toured) { parentElement.toured = data.tour; tourTold(JSON.parse(data.tour)); }
  if (!ends.length) {
    addEventListener("keydown", pressed, true);
    window.__forkyDo = (name) => { const way = wayOf(VERBS.find((verb) => verb.name === name)); if (way) carryOut(way); };
    ends = [() => removeEventListener("keydown", pressed, true), beginFinding(), beginReading(), beginWords(), beginTour()];
  }
  return () => { for (const end of ends) end(); ends = []; root = null; };
}
