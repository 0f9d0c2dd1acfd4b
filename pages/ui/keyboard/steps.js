// What a verb of the table does: it presses what the page shows, so it can do no more than the mouse.

const PATIENCE = 6000; // Milliseconds in which what the next step needs may appear.
const NAVIGATION = "[data-testid=stTopNavLink], [data-testid=stTopNavDropdownLink], [data-testid=stSidebarNavLink]";
const CELL = '[class*="st-key-cell-"]';

const seen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: false })
  && !one.disabled && one.getAttribute("aria-disabled") !== "true";

// What an element is called: its label, or its text without icons and keys.
function named(one) {
  const label = one.getAttribute("aria-label");
  if (label) return label;
  const copy = one.cloneNode(true);
  for (const other of copy.querySelectorAll("kbd, [aria-hidden=true], [data-testid=stIconMaterial]")) other.remove();
  return copy.textContent.replace(/[\u2060\s]+/g, " ").trim();
}

// Inside of a component there is a root of its own.
function inside(root, selector) {
  const hosts = [root, ...root.querySelectorAll("*")].filter((one) => one.shadowRoot);
  return hosts.flatMap((one) => [...one.shadowRoot.querySelectorAll(selector)]);
}

function all({ what, text }) {
  const [outer, inner] = what.split(" >>> ");
  let found = [...document.querySelectorAll(outer)];
  if (inner) found = found.flatMap((one) => inside(one, inner));
  const texts = text ? text.split("|") : null;
  return found.filter((one) => seen(one) && (!texts || texts.includes(named(one))));
}

const cells = () => [...document.querySelectorAll("[data-cell]")].map((head) => head.closest(CELL)).filter((one) => one && seen(one));

// The message at hand: the one that has the focus, or the last one that begins on the screen.
function atHand(list = cells()) {
  const focused = list.find((one) => one.contains(document.activeElement));
  if (focused) return focused;
  const low = innerHeight - 140;
  return list.filter((one) => one.getBoundingClientRect().top < low).at(-1) ?? list[0];
}

function ofMessage(selector) {
  const list = cells(), at = list.indexOf(atHand(list));
  if (at < 0) return undefined;
  const order = selector.includes("fk-siblings") ? [...list.slice(0, at + 1).reverse(), ...list.slice(at + 1)] : [list[at]];
  return order.map((one) => one.querySelector(selector)).find((one) => one && seen(one));
}

function linkTo(page) {
  const name = places.pages?.find(([, one]) => one === page)?.[2] ? "" : page;
  return [...document.querySelectorAll(NAVIGATION)].find((one) => new URL(one.href).pathname.split("/").pop() === name);
}

// The element that a step is about; null where the step is not possible now.
function target(step) {
  if (step.do === "press" || step.do === "focus") return all(step)[0] ?? null;
  if (step.do === "message") return ofMessage(step.what) ?? null;
  if (step.do === "move") return atHand() ?? null;
  return document.body;
}

function read(cell) {
  cell.focus({ preventScroll: true });
  const tall = cell.getBoundingClientRect().height > innerHeight - 300;
  cell.scrollIntoView({ block: tall ? "start" : "nearest" });
}

let coming = null; // Ends when the version that was asked for is drawn: the next key steps on from there.

// The version that was asked for takes the focus.
async function readWhenItCame(id) {
  const mine = walking, latest = performance.now() + PATIENCE;
  while (performance.now() < latest) {
    const cell = cells().find((one) => one.querySelector(`[data-cell="${id}"]`));
    if (cell?.getAttribute("role") === "article") {
      if (mine === walking) read(cell);
      // What is drawn anew can take the focus away once more.
      setTimeout(() => { if (mine === walking && cell.isConnected && document.activeElement === document.body) read(cell); }, 150);
      return;
    }
    await new Promise((then) => setTimeout(then, 60));
  }
}

function move(by) {
  const list = cells(), here = atHand(list), focused = here.contains(document.activeElement);
  const next = list[list.indexOf(here) + (focused ? by : 0)];
  if (next) read(next);
  else if (by < 0) document.querySelector(".st-key-chat-earlier button")?.click();
}

function take(step, found) {
  if (step.do === "press" || step.do === "message") {
    found.click();
    if (found.dataset.act === "sibling") coming = readWhenItCame(found.dataset.id).then(() => { coming = null; });
  }
  else if (step.do === "focus") { found.focus(); found.scrollIntoView({ block: "nearest" }); }
  else if (step.do === "move") move(Number(step.what));
  else if (step.do === "show") show(step.what);
  else if (step.do === "page") {
    const link = linkTo(step.what);
    if (link) link.click(); else ask({ page: step.what });
  }
}

const wayOf = (verb) => verb.ways.find((steps) => target(steps[0]));

let walking = 0; // Of two that are asked for one after the other, the second goes on.

async function carryOut(steps) {
  if (steps[0].do === "message") while (coming) await coming;
  const mine = ++walking;
  for (const [at, step] of steps.entries()) {
    const latest = performance.now() + PATIENCE;
    let found = target(step);
    while (!found && at && performance.now() < latest) {
      await new Promise((then) => setTimeout(then, 40));
      if (mine !== walking) return;
      found = target(step);
    }
    if (!found) return;
    take(step, found);
    // What is drawn anew can take the focus away once more.
    if (step.do === "focus" && at) setTimeout(() => { if (mine === walking && document.activeElement === document.body) target(step)?.focus(); }, 400);
  }
}
