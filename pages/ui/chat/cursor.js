// Where the cursor goes: into a form that has just opened below a cell, back to its button when it is closed, into the
// composer where a branch or an empty conversation is begun. In a form, Escape cancels and Ctrl+Enter
// carries it out. Uses scrolling.js, which comes before it.

const MOUNTS = 5000; // Milliseconds after which a field that does not come is given up.
const RESTS = 300; // Milliseconds in which what was just drawn may still be drawn once more, or move.
const FORM = ".st-key-chat-form", COMPOSER = ".st-key-chat-composer textarea";
const FIRST = { tag: "name input", edit: "text textarea", regenerate: "go button", threads: "cancel button" };

const cursor = (window.__forkyCursor ??= { form: "", place: "", frame: 0 });

const press = (form, name) => form.querySelector(`.st-key-chat-form_${name} button`)?.click();

// Until somebody's hand is quicker.
function give(find, seen = () => {}) {
  cancelAnimationFrame(cursor.frame);
  let latest = performance.now() + MOUNTS, at = null;
  const step = () => {
    const field = find();
    if (field && field !== at) { at = field; latest = performance.now() + RESTS; }
    if (field && document.activeElement !== field) field.focus({ preventScroll: true });
    if (field) seen(field);
    if (performance.now() < latest) cursor.frame = requestAnimationFrame(step);
  };
  step();
}

const keep = () => cancelAnimationFrame(cursor.frame);

// Whole, between the bars that stay in sight; the page does not go back to its end for that.
function inSight(field) {
  field.closest(FORM)?.scrollIntoView({ block: "nearest" });
  here.near = here.box.scrollHeight - here.box.scrollTop - here.box.clientHeight < 2;
}

// On a touch screen it would bring the keyboard up over what one reads.
const composer = () => (matchMedia("(pointer: coarse)").matches ? null : document.querySelector(COMPOSER));

function turn({ place, form, at }) {
  const went = place !== cursor.place, [act, id] = cursor.form.split(" ");
  const first = FIRST[form.split(" ")[0]];
  const opened = form && form !== cursor.form, closed = cursor.form && !form;
  cursor.place = place; cursor.form = form;
  if (opened && !first) give(() => document.querySelector(COMPOSER));
  else if (opened) give(() => document.querySelector(`${FORM} .st-key-chat-form_${first}`), inSight);
  else if (closed && !went) give(() => cellOf(id)?.querySelector(`[data-act="${act}"]`) ?? composer());
  else if (went && (closed || !at)) give(composer);
}

cursor.compose = () => give(composer);

function typed(event) {
  keep();
  const form = event.target.closest?.(FORM);
  if (!form || event.target.getAttribute("aria-expanded") === "true") return;
  if (event.key === "Escape") press(form, "cancel");
  // Streamlit's field hands its text over on that key; the shortcut of Send, which listens further out, must not hear it.
  else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.stopPropagation();
    const said = event.target.closest('[class*="st-key-chat-speak-"]')?.querySelector('[class*="st-key-chat-say_go"] button');
    if (event.target.matches("textarea")) setTimeout(() => (said ? said.click() : press(form, "go")));
  }
}

function keepCursor(data) {
  if (!cursor.listening) {
    cursor.listening = true;
    document.body.addEventListener("keydown", typed);
    document.addEventListener("pointerdown", keep, true);
  }
  turn(data);
  return () => {
    keep();
    document.body.removeEventListener("keydown", typed);
    document.removeEventListener("pointerdown", keep, true);
    cursor.listening = false; cursor.form = cursor.place = "";
  };
}
