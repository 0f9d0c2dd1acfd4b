// What the picture of the graph and the list share: the preview beside a row that is pointed at, the menu of a message
// (acts.js), and which cell of the notebook is being read. Text is only ever set as textContent.

const REST = 160; // Milliseconds for which one points at a row before its preview comes.
const LINE = 0.35; // Of the notebook's height: the cell that crosses this line is the one that is read.
const MAIN = '[data-testid="stMain"]';

// The preview of a row; `words` are [class, text]. It lies beside the box, inside the window, and never under the mouse.
const preview = {
  show(words, box, wait) {
    clearTimeout(this.timer);
    if (wait) { this.timer = setTimeout(() => this.show(words, box), REST); return; }
    const tip = (this.tip ??= document.createElement("div"));
    tip.className = "fk-preview";
    tip.id = "fk-preview";
    tip.setAttribute("role", "tooltip");
    tip.replaceChildren(...words.filter(([, text]) => text).map(([name, text]) => {
      const line = document.createElement("div");
      line.className = name; line.dir = "auto"; line.textContent = text;
      return line;
    }));
    document.querySelector(".stApp").append(tip);
    const size = tip.getBoundingClientRect(), below = box.bottom + 6 + size.height < innerHeight;
    tip.style.left = `${Math.max(6, Math.min(box.left, innerWidth - size.width - 6))}px`;
    tip.style.top = `${below ? box.bottom + 6 : Math.max(6, box.top - size.height - 6)}px`;
  },
  hide() {
    clearTimeout(this.timer);
    this.tip?.remove();
    this.tip = null;
  },
};

function previewOf(row) {
  const named = [row.who, ...row.branches, ...row.tags.map((name) => `‹${name}›`), row.unnamed].filter(Boolean).join(" · ");
  const notes = [row.folded && row.kind === "message" && `${row.folded} folded above it`, row.found && `${row.found} found`,
    row.answering && "a reply is being written"].filter(Boolean).join(" · ");
  return [["fk-preview-who", row.kind === "fold" ? row.text : named],
    ["fk-preview-text", row.preview || (row.kind === "fold" ? "" : row.text)], ["fk-preview-notes", notes]];
}

// Opens the menu of a message at a place of the window; `back` is what has the focus when it is closed.
const menuOf = (id, left, top, back) => window.__forkyActs?.openAt?.(id, left, top, back);

// The id of the message that is read in the notebook; "" where none is in sight.
function cellRead() {
  const main = document.querySelector(MAIN), cells = main ? [...main.querySelectorAll("[data-cell]")] : [];
  if (!cells.length || !cells[0].offsetParent) return "";
  if (main.scrollHeight - main.scrollTop - main.clientHeight < 8) return cells.at(-1).dataset.cell;
  const box = main.getBoundingClientRect(), line = box.top + LINE * box.height;
  const above = cells.filter((cell) => cell.getBoundingClientRect().top <= line);
  return (above.at(-1) ?? cells[0]).dataset.cell;
}

// Calls `tell` with that id whenever it changes; returns what ends that.
function followReading(tell) {
  let last = null, frame = 0;
  const look = () => {
    frame = 0;
    const id = cellRead();
    if (id !== last) tell((last = id));
  };
  const scrolled = (event) => { if (event.target.matches?.(MAIN)) frame ||= requestAnimationFrame(look); };
  document.addEventListener("scroll", scrolled, { capture: true, passive: true });
  look();
  return { look, end() { cancelAnimationFrame(frame); document.removeEventListener("scroll", scrolled, { capture: true }); } };
}
