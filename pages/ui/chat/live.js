// The browser's half of pages/ui/chat/live.py; the protocol is that of forky_core/gateway/watching.py.

const MOST = 20000; // Characters of live text that are shown.
const SILENCE = 3000; // Milliseconds without even a sign of life: something holds the events back.
const DEAF = 2000; // Milliseconds between two looks at a reply that is not heard.
const UNSHOWABLE = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]/g;
const FENCE = /^[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)*(?:```|~~~)/gm;
const shown = (text) => text.replace(/\r\n?/g, "\n").replace(UNSHOWABLE, "\ufffd");
const last = (text) => (text.length > MOST ? "…" + text.slice(-MOST) : text);

class Live {
  constructor(place) {
    this.place = place;
    this.id = null;
    this.turned = () => (document.hidden ? this.close() : this.connect());
    document.addEventListener("visibilitychange", this.turned);
    this.deaf = setInterval(() => { if (!document.hidden && !this.ended && !this.hears()) this.ask(); }, DEAF);
  }

  // What the page says: which reply, what of it is drawn as formatted text already, and all that was said so far.
  hear(data, look) {
    this.look = look;
    if (data.id !== this.id) {
      this.close();
      clearTimeout(this.again);
      Object.assign(this, { id: data.id, url: data.url, at: -1, ended: false, failed: 0, again: 0, looked: Date.now() });
    }
    this.settled = data.settled;
    if (data.at > this.at && !this.hears()) {
      this.close();
      Object.assign(this, { at: data.at, start: data.start, text: data.text, reasoning: data.reasoning });
    }
    this.draw();
    this.connect();
  }

  hears() {
    return this.source?.readyState === EventSource.OPEN && Date.now() - this.heard < SILENCE;
  }

  connect() {
    // A hidden tab lets go: a browser opens only six connections to a server, for all its tabs together.
    if (this.source || this.ended || this.again || document.hidden || this.id === null) return;
    const source = (this.source = new EventSource(`${this.url}?after=${this.at}`));
    const alive = () => { this.heard = Date.now(); };
    source.addEventListener("open", alive);
    source.addEventListener("alive", alive);
    source.addEventListener("message", (event) => {
      alive();
      const told = JSON.parse(event.data);
      this.failed = 0;
      this.at = told.at;
      this.text += told.text ?? "";
      this.reasoning += told.reasoning ?? "";
      this.draw();
      this.format();
    });
    source.addEventListener("end", () => { this.ended = true; this.close(); this.part(); });
    source.addEventListener("error", () => {
      // Cut off, or the reply is not there any more: the page knows which.
      this.close();
      this.ask();
      this.again = setTimeout(() => { this.again = 0; this.connect(); }, Math.min(500 * 2 ** this.failed++, 8000));
    });
  }

  close() {
    this.source?.close();
    this.source = null;
  }

  // Ask until the page has run: a wish that meets another fragment's at the same moment is lost.
  part() {
    this.ask();
    this.again = setTimeout(() => this.part(), 700);
  }

  ask() {
    this.looked = Date.now();
    this.look("look", this.looked);
  }

  // Ask for formatting when a block is whole: at most once a second, and less often the longer the text is.
  format() {
    if (Date.now() - this.looked < Math.max(1000, (this.start + this.text.length) / 10)) return;
    const end = this.text.search(/\n[ \t]*\n(?![\s\S]*\n[ \t]*\n)/);
    if (end > 0 && (this.text.slice(0, end).match(FENCE) ?? []).length % 2 === 0) this.ask();
  }

  draw() {
    const formatted = Math.min(Math.max(0, this.settled - this.start), this.text.length);
    this.text = this.text.slice(formatted);
    this.start += formatted;
    this.place.querySelector(".fk-live").textContent = shown(last(this.text));
    const cell = this.place.closest('[class*="st-key-cell-"]');
    const status = cell?.querySelector('[data-live="status"]');
    const said = this.start + this.text.trim().length > 0 ? "writing …" : "thinking …";
    if (status && status.textContent !== said) status.textContent = said;
    const reasoning = cell?.querySelector('[data-live="reasoning"]');
    if (reasoning && this.reasoning) {
      reasoning.hidden = false;
      reasoning.querySelector("pre").textContent = shown(last(this.reasoning));
    }
  }

  leave() {
    this.close();
    clearTimeout(this.again);
    clearInterval(this.deaf);
    document.removeEventListener("visibilitychange", this.turned);
  }
}

const lives = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!lives.has(parentElement)) lives.set(parentElement, new Live(parentElement));
  const live = lives.get(parentElement);
  live.hear(data, setTriggerValue);
  return () => {
    live.leave();
    lives.delete(parentElement);
  };
}
