// Where the page stands. A new place is shown at its end, or at the message that was asked for; a page that grows while
// one reads its end stays at the end; earlier messages come in when one scrolls near the top, and what is being read
// does not move by a pixel. The button that brings them is an ordinary one, for the keyboard and where this is not run.

const AHEAD = 600; // Pixels from the top at which the next messages are asked for.
const SETTLES = 500; // Milliseconds in which a page that was just drawn may still change its height.
const PATIENCE = 8000; // Milliseconds after which messages that were asked for are given up.
const EARLIER = ".st-key-chat-earlier button", ADDS = "[class*=st-key-chat-send-] button, [class*=st-key-chat-stash_] button";

const here = (window.__forkyPlace ??= { place: "", seeking: false, near: true, last: 0, tall: 0, reading: null });

const bottom = () => { here.box.scrollTop = here.box.scrollHeight; };
const cellOf = (id) => here.box.querySelector(`[data-cell="${CSS.escape(id)}"]`);

function seek() {
  const begun = performance.now();
  here.seeking = true;
  const step = () => {
    if (!here.seeking) return;
    if (here.data.end || !here.data.at) bottom();
    else cellOf(here.data.at)?.scrollIntoView({ block: "start" });
    here.last = here.box.scrollTop;
    if (performance.now() - begun < SETTLES) requestAnimationFrame(step);
    else { here.seeking = false; fill(); }
  };
  step();
}

// The end of a path that the page has not told of yet.
function seekEnd() {
  release();
  here.data = { ...here.data, end: true };
  seek();
}

// Remember which cell is at the top of what is read, and where it stands.
function hold() {
  const top = here.box.getBoundingClientRect().top;
  const cells = [...here.box.querySelectorAll("[data-cell]")];
  const cell = cells.find((one) => one.getBoundingClientRect().top >= top) ?? cells.at(-1);
  if (!cell) return;
  here.reading = { id: cell.dataset.cell, top: cell.getBoundingClientRect().top };
  here.box.style.overflowAnchor = "none";
  clearTimeout(here.timer);
  here.timer = setTimeout(release, PATIENCE);
}

function release() {
  clearTimeout(here.timer);
  here.reading = null;
  if (here.box) here.box.style.overflowAnchor = "";
}

function putBack() {
  const cell = cellOf(here.reading.id);
  const by = cell ? cell.getBoundingClientRect().top - here.reading.top : 0;
  if (Math.abs(by) < 1) return;
  here.box.scrollTop += by;
  here.last = here.box.scrollTop;
  clearTimeout(here.timer);
  here.timer = setTimeout(() => { release(); fill(); }, SETTLES);
}

function more() {
  const button = here.box.querySelector(EARLIER);
  if (!button?.offsetParent || here.reading) return;
  hold();
  button.click();
}

// A screen that is taller than the messages on it.
function fill() {
  if (here.box && here.box.scrollHeight - here.box.clientHeight < 8) more();
}

// A page that gets shorter, by another path say, moves without a hand; whoever hears of it first takes that in.
function shrunk() {
  const before = here.tall;
  here.tall = here.box.scrollHeight;
  return here.tall < before;
}

function scrolled() {
  const top = here.box.scrollTop, by = shrunk() ? 0 : top - here.last;
  // Only somebody's hand leaves the end: a page that grows while it is read there does not.
  if (by !== 0) here.near = (here.near && by > 0) || here.box.scrollHeight - top - here.box.clientHeight < 160;
  here.last = top;
  if (here.reading) here.reading.top -= by;
  else if (by < 0 && top < AHEAD && !here.seeking) more();
}

function grown() {
  if (shrunk()) here.last = here.box.scrollTop;
  if (here.reading) putBack();
  else if (here.near && here.data.follow) bottom();
}

function taken(event) {
  here.seeking = false;
  if (event.deltaY < 0 && here.box.scrollTop < AHEAD) more();
}

function asked(event) {
  if (!here.reading && event.target.closest?.(EARLIER)) hold();
  if (event.target.closest?.(ADDS)) { here.near = true; bottom(); } // What one adds is read at the end.
}

// How tall what stands above the columns is: the graph begins below it, and a cell that is scrolled to.
const measured = new ResizeObserver(([one]) => {
  document.documentElement.style.setProperty("--fk-bar", `${Math.round(one.target.getBoundingClientRect().height)}px`);
});

function measureBar() {
  const bar = document.querySelector(".st-key-chat-top");
  if (bar === here.bar) return;
  measured.disconnect();
  here.bar = bar;
  if (bar) measured.observe(bar);
}

function keepPlace(data) {
  measureBar();
  const box = document.querySelector('[data-testid="stMain"]');
  const inner = box?.querySelector('[data-testid="stMainBlockContainer"]');
  here.data = data;
  if (!inner) return () => {};
  if (here.box !== box) {
    here.box = box;
    box.addEventListener("scroll", scrolled, { passive: true });
    for (const kind of ["wheel", "touchmove"]) box.addEventListener(kind, taken, { passive: true });
    document.addEventListener("click", asked, true);
    here.watch = new ResizeObserver(grown);
    here.watch.observe(inner);
  }
  if (data.place !== here.place) {
    here.place = data.place;
    release();
    seek();
  }
  return () => {
    here.seeking = false; here.place = "";
    release();
    here.watch.disconnect();
    box.removeEventListener("scroll", scrolled);
    for (const kind of ["wheel", "touchmove"]) box.removeEventListener(kind, taken);
    document.removeEventListener("click", asked, true);
    here.box = null;
  };
}
