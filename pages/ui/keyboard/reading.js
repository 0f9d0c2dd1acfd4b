// For those who read by ear or without a mouse: messages are articles in a log, a box that scrolls sideways takes the
// focus, and the first link of a page jumps to the composer. Streamlit's elements have no such attributes to set.

const RESTS = 250; // Milliseconds after which what was drawn is looked at.
const BOXES = '.stMain pre, .stMain [data-testid="stMarkdownContainer"] table, .stMain [data-testid="stTable"], .stMain [data-scrolls]';
const UPLOADS = '[data-testid="stFileUploaderDropzone"][role="presentation"]';

let jump = null, watch = null, resting = 0;

function scrolls(box) {
  const style = getComputedStyle(box);
  const sideways = box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(style.overflowX);
  const down = box.scrollHeight > box.clientHeight + 1 && /auto|scroll/.test(style.overflowY);
  return sideways || down;
}

function look() {
  for (const head of document.querySelectorAll("[data-cell]")) {
    const cell = head.closest(CELL), heading = head.querySelector(".fk-who");
    if (!cell || !heading) continue;
    const id = `heading-${head.dataset.cell.replace(/\W/g, "-")}-${head.closest("[class*=st-key-compare]") ? "c" : "m"}`;
    if (cell.getAttribute("role") === "article" && cell.getAttribute("aria-labelledby") === heading.id && heading.id) continue;
    if (!heading.id && !document.getElementById(id)) heading.id = id;
    cell.setAttribute("role", "article");
    if (heading.id) cell.setAttribute("aria-labelledby", heading.id);
    cell.tabIndex = -1;
  }
  const log = document.querySelector(".st-key-chat-path");
  if (log && log.getAttribute("role") !== "log") {
    log.setAttribute("role", "log");
    log.setAttribute("aria-label", "Messages");
  }
  for (const box of document.querySelectorAll(BOXES)) {
    const holds = box.matches("table") ? box.parentElement : box;
    if (scrolls(holds)) { if (holds.tabIndex < 0 || !holds.hasAttribute("tabindex")) { holds.tabIndex = 0; holds.dataset.scrolls = ""; } }
    else if ("scrolls" in holds.dataset) { holds.removeAttribute("tabindex"); delete holds.dataset.scrolls; }
  }
  for (const upload of document.querySelectorAll(UPLOADS)) upload.setAttribute("role", "group");
  turnJump();
}

// What the page is for: to write, or to bring a branch back; else its content.
const goal = () => document.querySelector(COMPOSER) ?? document.querySelector(".st-key-merge-land button:enabled") ?? document.querySelector(".stMain");

function turnJump() {
  const to = goal(), main = document.querySelector(".stMain");
  if (!to || !jump) return;
  to.id ||= to === main ? "content" : "first-act";
  if (to === main) main.tabIndex = -1;
  const words = to === main ? "To the content" : to.matches(COMPOSER) ? "To the composer" : "To “Bring it in”";
  if (jump.textContent !== words) jump.textContent = words;
  jump.href = `#${to.id}`;
}

function later() {
  clearTimeout(resting);
  resting = setTimeout(look, RESTS);
}

function beginReading() {
  jump = document.createElement("a");
  jump.className = "fk-jump";
  jump.addEventListener("click", (event) => {
    event.preventDefault();
    goal()?.focus();
  });
  document.body.prepend(jump);
  watch = new MutationObserver(later);
  watch.observe(document.querySelector(".stMain") ?? document.body, { childList: true, subtree: true });
  addEventListener("resize", later);
  look();
  return () => {
    watch.disconnect(); removeEventListener("resize", later); clearTimeout(resting);
    jump.remove(); jump = null;
  };
}
