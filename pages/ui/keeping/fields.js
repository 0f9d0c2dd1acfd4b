// Fields in which people write, other than the composer: those in a box that the page names after what is written about
// (`kept_fields`). What is typed is kept with the text that it began from, and put back where the same field comes with
// that text again. It is forgotten when a press of a button in that box has carried it out or dropped it. A key by which
// a word of Japanese or Chinese is converted belongs to no field and no page: Streamlit would send what stands there.

const WRITTEN = 30_000; // Milliseconds in which a press may take a field away or change it.
const LATER = 120; // Milliseconds in which the page has filled a new field.
const converts = (event) => { if (composes(event)) event.stopImmediatePropagation(); };
const BOX = '[class*="st-key-kept-"]', FIELD = "textarea, input[type=text]:not([role=combobox])";

class Fields {
  constructor() {
    this.known = new Map(); // Field → { box, key, base, said, text, pressed, session, begun }
    this.watch = new MutationObserver(() => this.look());
    this.watch.observe(document.body, { childList: true, subtree: true });
    this.ears = [["input", (event) => this.typed(event.target)], ["click", (event) => this.pressed(event.target.closest?.("button"))],
      ["focusout", (event) => this.left(event.target)], ["keydown", (event) => this.submits(event) && this.pressed(event.target)]];
    for (const [kind, ear] of this.ears) document.addEventListener(kind, ear, true);
    window.addEventListener("keydown", converts, true);
  }

  hear(data) {
    this.owner = data.owner; this.session = data.session;
    prune(this.owner, "field"); prune(this.owner, "draft");
    this.look();
  }

  look() {
    for (const [field, one] of this.known) {
      if (!field.isConnected) { this.known.delete(field); this.end(one); }
      else if (one.begun && field.value !== one.text) this.changed(field, one);
    }
    for (const box of document.querySelectorAll(BOX))
      for (const field of box.querySelectorAll(FIELD)) if (!this.known.has(field)) this.meet(field, box);
  }

  // A form within another one, as a panel of comments may have, is a box of its own.
  meet(field, box) {
    const name = (one) => [...one.classList].find((name) => name.startsWith("st-key-"));
    const own = field.closest('[class*="st-key-"]');
    if (field.closest(BOX) !== box || own === box) return;
    const key = keyOf(this.owner, "field", `${name(box)}/${name(own)}`), base = field.value;
    const one = { box, key, base, said: base, text: base, pressed: 0, session: this.session };
    this.known.set(field, one);
    setTimeout(() => this.begin(field, one), LATER);
  }

  // Streamlit makes a field empty and fills it a moment later; what it says of its own then is the value it began with.
  begin(field, one) {
    if (one.begun || this.known.get(field) !== one) return;
    Object.assign(one, { begun: true, base: field.value, said: field.value, text: field.value });
    this.putBack(field, one);
  }

  putBack(field, one) {
    const held = kept(one.key);
    if (held === null || field.value !== one.base || ![held.base, held.said].includes(one.base) || held.text === one.base) return;
    one.text = held.text;
    write(field, held.text);
    field.dispatchEvent(new FocusEvent("focusout", { bubbles: true })); // So that a press says it.
  }

  typed(field) {
    const one = this.known.get(field);
    if (!one) return;
    if (!one.begun) Object.assign(one, { begun: true, base: field.defaultValue }); // React has not heard of it yet.
    Object.assign(one, { text: field.value, pressed: 0, session: this.session });
    if (one.text === one.base) drop(one.key); else keep(one.key, { text: one.text, base: one.base, said: one.said });
  }

  // The server hears what is typed when a field is left, and some pages begin with that again.
  left(field) {
    const one = this.known.get(field);
    if (one) one.said = field.value;
  }

  submits({ key, ctrlKey, metaKey, shiftKey, target }) {
    return key === "Enter" && (ctrlKey || metaKey || target.matches?.("input, [data-testid=stChatInput] *") && !shiftKey);
  }

  pressed(on) {
    const box = on?.closest(BOX);
    for (const one of this.known.values()) if (box && one.box === box) Object.assign(one, { pressed: Date.now(), session: this.session });
  }

  end(one) {
    const done = one.session === this.session && Date.now() - one.pressed < WRITTEN;
    if (done) drop(one.key);
    return done;
  }

  // The page says another text than was typed: it was carried out, or a server that was started anew does not know it.
  changed(field, one) {
    const done = this.end(one), renewed = one.session !== this.session;
    Object.assign(one, { base: field.value, said: field.value, text: field.value, pressed: 0, session: this.session });
    if (!done && renewed) this.putBack(field, one);
  }

  part() {
    this.watch.disconnect();
    for (const [kind, ear] of this.ears) document.removeEventListener(kind, ear, true);
    window.removeEventListener("keydown", converts, true);
  }
}
