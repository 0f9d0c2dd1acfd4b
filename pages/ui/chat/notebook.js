// The browser's half of pages/ui/chat/notebook.py. Uses elements.js, which comes before it. A cell that says the same as
// before keeps its elements.

const UNHEARD = 10000; // Milliseconds after which a press is taken to have led nowhere.

// What keyboard/reading.js does for the cells that Streamlit draws.
function name(cell, id) {
  const heading = cell.querySelector(".fk-who");
  heading.id = `heading-${id.replace(/\W/g, "-")}-m`;
  cell.setAttribute("role", "article");
  cell.setAttribute("aria-labelledby", heading.id);
  cell.tabIndex = -1;
}

const drawn = new WeakMap(), told = new WeakMap(); // What each place shows, and what the page said last.

function draw(place, cells) {
  const before = drawn.get(place) ?? new Map(), now = new Map(cells.map(([id]) => [id, null]));
  for (const [id, cell] of before) if (!now.has(id)) cell.element.remove();
  let at = place.firstChild;
  for (const [id, text] of cells) {
    let cell = before.get(id);
    if (cell?.text !== text) {
      const tree = JSON.parse(text);
      if (cell) turn(cell.element, cell.tree, tree);
      else { cell = { element: made(tree) }; name(cell.element, id); }
      cell.text = text; cell.tree = tree;
    }
    if (cell.element === at) at = at.nextSibling;
    else place.insertBefore(cell.element, at);
    now.set(id, cell);
  }
  drawn.set(place, now);
}

// The version beside this one, if it was sent ahead (ahead.py) and the path is in one piece. The page, which is told of the
// press as well, soon says the same; if it never does, what it said last is shown again.
function showAhead(id) {
  const cells = window.__forkyAhead?.get(id), places = document.querySelectorAll(".st-key-chat-path .fk-cells");
  const others = document.querySelectorAll(`.st-key-chat-path [class*="st-key-cell-"]:not(.fk-cell), .st-key-chat-form`);
  if (!cells || places.length !== 1 || others.length) return false;
  const [place] = places, before = told.get(place);
  draw(place, cells);
  setTimeout(() => { if (place.isConnected && told.get(place) === before) draw(place, before); }, UNHEARD);
  return true;
}

export default function ({ data: [, cells], parentElement }) {
  const place = parentElement.querySelector(".fk-cells");
  told.set(place, cells);
  draw(place, cells);
  window.__forkyShowAhead = showAhead;
}
