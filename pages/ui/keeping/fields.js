// Fields in which people write at length, on every page. What is typed is kept with the text that it began from, and put
// back where the field comes with that text again. It is forgotten when a press beside the field has carried it out.

const WRITTEN = 30_000; // Milliseconds in which a press may take a field away or change it.
const LATER = 120;

class Fields {
  constructor() {
    this.known = new Map(); // Field → { key, base, text, pressed, session }
    const look = () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.look(), LATER); };
    this.watch = new MutationObserver(look);
    this.watch.observe(document.body, { childList: true, subtree: true });
    this.ears = [["input", (event) => this.typed(event)], ["click", (event) => this.pressed(event.target)],
      ["keydown", (event) => { if (event.key === "Enter" && !composes(event)) this.pressed(event.target); }]];
    for (const [kind, ear] of this.ears) document.addEventListener(kind, ear, true);
  }

  hear(data) {
    this.owner = data.owner; this.session = data.session; this.lines = data.lines;
    prune(this.owner, "field"); prune(this.owner, "draft");
    this.look();
  }

  keyFor(field) {
    const name = [...(field.closest('[class*="st-key-"]')?.classList ?? [])].find((one) => one.startsWith("st-key-"))?.slice(7);
    if (!name || name === "chat-draft" || field.type === "password") return null;
    if (!field.matches("textarea") && !this.lines.includes(name)) return null;
    const at = new URLSearchParams(location.search);
    for (const passing of ["m", "at"]) at.delete(passing);
    return keyOf(this.owner, "field", `${location.pathname}?${at}/${name}`);
  }

  look() {
    for (const [field, one] of this.known) if (!field.isConnected) this.gone(field, one);
    for (const field of document.querySelectorAll(".stApp textarea, .stApp input[type=text]")) {
      const one = this.known.get(field);
      if (one) { this.changed(field, one); continue; }
      const key = this.keyFor(field);
      if (key === null) continue;
      const base = field.value, held = kept(key);
      this.known.set(field, { key, base, text: base, pressed: 0 });
      if (held === null || held.base !== base || held.text === base) continue;
      write(field, held.text);
      field.dispatchEvent(new FocusEvent("focusout", { bubbles: true })); // So that a press says it.
    }
  }

  typed(event) {
    const one = this.known.get(event.target);
    if (!one) return;
    one.text = event.target.value;
    if (one.text === one.base) drop(one.key); else keep(one.key, { text: one.text, base: one.base });
  }

  // A press counts for the fields that stand in the same form: the nearest box around the field that has a button.
  pressed(target) {
    const button = target.closest?.("button, textarea, input");
    if (!button) return;
    for (const [field, one] of this.known) {
      let form = field.closest(".stElementContainer") ?? field.parentElement;
      while (form && !form.matches(".stMain, .stApp") && ![...form.querySelectorAll("button")].some((found) => !found.closest(".stTooltipIcon"))) form = form.parentElement;
      if (form?.contains(button) && !form.matches(".stMain, .stApp")) { one.pressed = Date.now(); one.session = this.session; }
    }
  }

  carriedOut(one) {
    return one.session === this.session && Date.now() - one.pressed < WRITTEN;
  }

  gone(field, one) {
    this.known.delete(field);
    if (this.carriedOut(one)) drop(one.key);
  }

  // The page says another text than was typed: what was typed has been carried out, or it stands on another one now.
  changed(field, one) {
    if (field.value === one.text) return;
    if (this.carriedOut(one)) drop(one.key);
    one.base = one.text = field.value;
  }

  part() {
    this.watch.disconnect();
    clearTimeout(this.timer);
    for (const [kind, ear] of this.ears) document.removeEventListener(kind, ear, true);
  }
}
