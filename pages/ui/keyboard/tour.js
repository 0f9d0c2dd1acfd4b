// The tour (tour.py). It points at what the page shows, and hears from the server what was done there.

const KEPT = "forky.tour", LOOKS = 250; // Milliseconds between two looks at where the control is.
let tour = null, card = null, ring = null, aim = null, looking = 0, facts = {}, by = "", moved = 0;
let fromCard = false; // Whether the step is done at the card's button, and nothing else was touched since.
const touched = (event) => { if (event.isTrusted && !event.composedPath().includes(card)) fromCard = false; };

function kept() {
  try { return JSON.parse(sessionStorage.getItem(KEPT)); } catch { return null; }
}
function keep() {
  try { sessionStorage.setItem(KEPT, JSON.stringify(tour)); } catch { /* Storage is refused: a reload ends the tour. */ }
}

// The facts of a run: begin, go on, or see that the step is done.
function tourTold(told) {
  facts = told;
  tour ??= kept();
  if (told.begun && told.begun.mark !== tour?.mark) {
    tour = { ...told.begun, step: 0, happened: "" };
    keep();
    drawTour();
    card.querySelector("h2").focus({ preventScroll: true });
  } else if (tour && !tour.left) drawTour();
}

const isHere = () => !facts.conversation || facts.conversation === tour.conversation;

function isDone(step) {
  const [kind, page] = step.done.split(":");
  if (page) return facts.page === page && facts.conversation === tour.conversation;
  if (facts.conversation !== tour.conversation) return false;
  if (kind === "undo") return facts.undone > tour.since;
  return (facts.done ?? []).some(([number, verb]) => number > tour.since && verb === kind);
}

function drawTour() {
  const before = tour.step;
  for (let step = TOUR[tour.step]; step && isDone(step); step = TOUR[tour.step])
    Object.assign(tour, { step: tour.step + 1, happened: step.happened, since: facts.version ?? tour.since }), by = "", keep();
  if (!card?.isConnected) makeCard();
  const step = TOUR[tour.step], away = !isHere();
  card.querySelector(".step").textContent = step ? `Step ${tour.step + 1} of ${TOUR.length}` : "The end";
  card.querySelector(".name").textContent = step ? step.name : "That was it";
  card.querySelector(".happened").textContent = tour.happened;
  const go = card.querySelector(".go"), there = card.querySelector(".there");
  go.textContent = away ? "Go back there" : step ? "Do it for me" : "Compare three answers";
  card.querySelector(".leave").textContent = step ? "Leave" : "Close";
  there.hidden = away || !step;
  // What was done for a person at this button can have taken the focus along.
  if (tour.step > before && fromCard) for (const wait of [0, 500]) setTimeout(() => { if (fromCard) go.focus({ preventScroll: true }); }, wait);
  clearInterval(looking);
  looking = setInterval(lookAt, LOOKS);
  lookAt();
}

function makeCard() {
  if (!document.querySelector("style.fk-tour-style")) {
    const style = piece("style", "fk-tour-style", TOUR_STYLE);
    document.head.append(style);
  }
  card = piece("section", "fk-tour");
  card.setAttribute("aria-label", "Tour");
  const heading = piece("h2");
  heading.tabIndex = -1;
  heading.append(piece("span", "step"), piece("span", "name"));
  const said = piece("div", "said");
  said.setAttribute("role", "status");
  said.append(piece("p", "happened"), piece("p", "what"));
  const row = piece("div", "row");
  for (const [name, label, run] of [["go", "", forMe], ["there", "Go there", thither], ["leave", "", leaveTour]]) {
    const button = piece("button", name, label);
    button.type = "button";
    button.addEventListener("click", run);
    row.append(button);
  }
  card.append(heading, said, row);
  ring?.remove();
  ring = piece("div", "fk-tour-ring");
  ring.setAttribute("aria-hidden", "true");
  (document.querySelector(".stApp") ?? document.body).append(card, ring);
  moved = 0;
}

// The control that the step is about now, and its place in the table.
function aimed() {
  if (!isHere()) return null;
  for (const target of TOUR[tour.step]?.targets ?? []) {
    if (target.page) {
      const link = linkTo(target.page), opener = document.querySelector("[data-testid=stExpandSidebarButton]");
      const one = link && seen(link) && inWindow(link) ? link : opener && seen(opener) ? opener : link;
      return { target, one };
    }
    const found = all({ what: target.what.replace("{fork}", tour.fork), text: target.text })[0];
    if (found) return { target, one: found };
  }
  return null;
}

const inWindow = (one) => { const at = one.getBoundingClientRect(); return at.right > 0 && at.left < innerWidth; };
const isWriting = () => Boolean(document.querySelector(".st-key-chat-stop, .st-key-chat-stop_reply"));

function lookAt() {
  if (!tour || !card) return;
  if (!card.isConnected) { drawTour(); return; }
  const found = aimed(), step = TOUR[tour.step];
  const waits = step?.done === "reply" && isWriting();
  const what = !isHere() ? "The tour goes on in the ready conversation." : !step ? ""
    : waits ? "The answer is being written …" : found ? found.target.says : "One moment …";
  const line = card.querySelector(".what");
  if (line.textContent !== what) line.textContent = what;
  if (found?.one !== aim) {
    aim?.removeAttribute("data-tour");
    aim = found?.one ?? null;
    aim?.setAttribute("data-tour", "");
    moved = 0;
  }
  if (aim && moved < 8 && !waits) toSight(aim);
  if (by === String(tour.step) && found && !waits) pressFor(found, step);
  settle();
}

// A page that has just been drawn may still scroll to its end: it is scrolled again until the control stays.
function toSight(one) {
  const at = one.getBoundingClientRect(), low = one.closest(".st-key-chat-ask") ? innerHeight : innerHeight - 190;
  moved += 1;
  if (at.top < 110 && !one.closest("header, [data-testid=stSidebar], .st-key-bar") || at.bottom > low) one.scrollIntoView({ block: "center" });
}

// The card keeps clear of the control.
function settle() {
  const at = aim?.isConnected ? aim.getBoundingClientRect() : null, size = card.getBoundingClientRect(), edge = innerWidth < 640 ? 8 : 20;
  ring.hidden = !at || !at.width;
  if (at) Object.assign(ring.style, { left: `${at.left - 5}px`, top: `${at.top - 5}px`, width: `${at.width + 10}px`, height: `${at.height + 10}px` });
  const right = innerWidth - size.width - edge, low = innerHeight - size.height - edge, high = innerWidth < 640 ? 62 : 110;
  const places = [[right, low], [right, high], [edge, low], [edge, high], [right, (low + high) / 2]];
  const free = ([x, y]) => !at || at.right + 12 < x || at.left - 12 > x + size.width || at.bottom + 12 < y || at.top - 12 > y + size.height;
  const [x, y] = places.find(free) ?? places[0];
  Object.assign(card.style, { left: `${x}px`, top: `${y}px` });
}

function forMe() {
  fromCard = true;
  if (!isHere()) ask({ tour: "back", conversation: tour.conversation });
  else if (tour.step >= TOUR.length) { const { conversation } = tour; leaveTour(); ask({ tour: "compare", conversation }); }
  else { by = String(tour.step); asked = true; setTimeout(lookAt); } // After this press, which closes a menu that is open.
}

let pressedLast = {}, asked = false; // Whether nothing was pressed yet since it was asked for.

// The Send button of the place that the field is drawn for, as soon as both are there.
const sendButton = () => document.querySelector(`.st-key-${window.__forkyComposing?.data?.button} button`);

function pressFor({ target, one }, step) {
  if (target.types && document.querySelector("[data-testid=stApp]")?.dataset.testScriptState !== "notRunning") return; // Nothing is sent meanwhile.
  if (target.types && !sendButton()?.textContent.includes("new branch")) return; // What is typed before would be of another place.
  // A press brings a target nearer to the first. Until that is drawn, the page still shows those before it.
  const at = step.targets.indexOf(target), last = !at;
  if (step === pressedLast.step && at >= pressedLast.at && performance.now() < pressedLast.until) return;
  if (target.page || last) by = "";
  if (last && step.reads_first && !asked) return;
  pressedLast = { step, at, until: performance.now() + PATIENCE };
  asked = false;
  if (target.types) { write(one, target.types); return; }
  if (target.page) { take({ do: "page", what: target.page }); return; }
  one.click();
}

// What is typed comes to Streamlit as from a person: it hears it when the field is left.
function write(field, words) {
  const had = document.activeElement;
  field.focus({ preventScroll: true });
  if (!field.value.trim()) {
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, words);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  setTimeout(() => {
    field.blur();
    setTimeout(() => sendButton()?.click(), 200);
    if (card?.contains(had)) had.focus({ preventScroll: true });
  }, 100);
}

function thither() { aim?.focus(); aim?.scrollIntoView({ block: "nearest" }); }

function leaveTour() {
  clearInterval(looking);
  const had = card?.contains(document.activeElement);
  aim?.removeAttribute("data-tour");
  card?.remove(); ring?.remove();
  tour = { mark: tour?.mark, left: true };
  aim = card = ring = null; by = "";
  keep();
  if (had) (document.querySelector(COMPOSER) ?? document.querySelector(".stMain"))?.focus({ preventScroll: true });
}

function escapesTour(event) {
  if (event.key !== "Escape" || !card || tip) return;
  if (!isSomethingOpen(`${OPEN}, [data-baseweb="popover"]`)) leaveTour();
}

function beginTour() {
  addEventListener("keydown", escapesTour, true);
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, touched, true);
  addEventListener("scroll", lookAt, true);
  addEventListener("resize", lookAt);
  return () => {
    removeEventListener("keydown", escapesTour, true);
    for (const kind of ["pointerdown", "keydown"]) removeEventListener(kind, touched, true);
    removeEventListener("scroll", lookAt, true);
    removeEventListener("resize", lookAt);
  };
}
