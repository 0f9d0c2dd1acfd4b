// The browser's half of pages/ui/chat/live.py; the protocol is that of forky_core/gateway/watching.py. Uses elements.js,
// which comes before it.

const SILENCE = 3000; // Milliseconds without even a sign of life: something holds the events back.
const DEAF = 2000; // Milliseconds between two looks at a reply that is not heard.

// Where the next word will stand: behind the last one, in the innermost element.
function cursorIn(page) {
  let at = page.lastElementChild;
  if (at?.matches(".fk-code")) at = at.querySelector("code");
  else if (at?.matches(".fk-diagram")) at = null;
  else while (at?.lastElementChild?.matches("ul, ol, li, p, blockquote, table, tbody, thead, tr, td, th") && at.lastChild === at.lastElementChild) at = at.lastElementChild;
  at?.setAttribute("data-cursor", "");
}

class Live {
  constructor(place) {
    this.place = place;
    this.id = null;
    this.turned = () => (document.hidden ? this.close() : this.connect());
    document.addEventListener("visibilitychange", this.turned);
    this.deaf = setInterval(() => { if (!document.hidden && !this.ended && !this.hears()) this.ask(); }, DEAF);
  }

  // What the page says: which reply, and what is drawn of it by now.
  hear(data, look) {
    this.look = look;
    if (data.id !== this.id) {
      this.close();
      clearTimeout(this.again);
      Object.assign(this, { id: data.id, url: data.url, at: -1, blocks: [], rest: "", ended: false, failed: 0, again: 0 });
    }
    if (data.at > this.at && !this.hears()) this.draw(data.at, 0, JSON.parse(data.blocks), [0, data.rest]);
    this.connect();
  }

  hears() {
    return this.source?.readyState === EventSource.OPEN && Date.now() - this.heard < SILENCE;
  }

  connect() {
    // A hidden tab lets go: a browser opens only six connections to a server, for all its tabs together.
    if (this.source || this.ended || this.again || document.hidden || this.id === null) return;
    const source = (this.source = new EventSource(this.url));
    const alive = () => { this.heard = Date.now(); };
    source.addEventListener("open", alive);
    source.addEventListener("alive", alive);
    source.addEventListener("message", (event) => {
      alive();
      const { at, first, blocks, rest } = JSON.parse(event.data);
      this.failed = 0;
      this.draw(at, first, blocks, rest);
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
    this.look("look", Date.now());
  }

  // `blocks` stand below the first so many, and of the rest the first so many characters are as they were.
  draw(at, first, blocks, [same, rest]) {
    this.at = at;
    this.blocks.splice(first, Infinity, ...blocks);
    this.rest = this.rest.slice(0, same) + rest;
    const { reasoning, last } = JSON.parse(this.rest), now = ["div", 0, ...this.blocks.flat(), ...last], page = this.place.querySelector(".fk-live");
    page.querySelector("[data-cursor]")?.removeAttribute("data-cursor");
    if (this.drawn?.page !== page) { page.replaceChildren(); this.drawn = { tree: ["div", 0] }; }
    turn(page, this.drawn.tree, now);
    this.drawn = { page, tree: now };
    cursorIn(page);
    const cell = this.place.closest('[class*="st-key-cell-"]'), status = cell?.querySelector('[data-live="status"]');
    const said = now.length > 2 ? "writing …" : "thinking …";
    if (status && status.textContent !== said) status.textContent = said;
    const thoughts = cell?.querySelector('[data-live="reasoning"]'), words = thoughts?.querySelector("pre");
    if (!words || !reasoning) return;
    thoughts.hidden = false;
    reasoning.startsWith(words.textContent) ? words.append(reasoning.slice(words.textContent.length)) : (words.textContent = reasoning);
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
