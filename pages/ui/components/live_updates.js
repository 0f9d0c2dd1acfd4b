// The browser's half of pages/ui/components/live_updates.py; the protocol is that of forky_core/gateway/moving.py.

// Milliseconds between two looks whether what this tab does itself has been drawn, which is no news to it; in which the
// end of a reply that it hears is drawn by that (chat/live.js); and after which it is told all the same.
const LOOK = 40, HEARD = 250, LONG = 1500;
const AGAIN = 2000, TRIES = 3; // Milliseconds until it is told again what is not drawn yet, and how often it is told.
const RETRY = 3000;
const LATE = 1500; // A reply follows a question, of which is told as of any operation: mostly all is drawn by then.

const pass = (name, detail) => window.dispatchEvent(new CustomEvent(name, { detail }));

class Moves {
  constructor() {
    this.url = null;
    this.waiting = {};
    this.turned = () => (document.hidden ? this.close() : this.connect());
    document.addEventListener("visibilitychange", this.turned);
  }

  hear(data, tell) {
    this.tell = tell;
    if (data.url !== this.url) { this.close(); this.url = data.url; }
    this.drawn = data.at;
    this.threads = data.threads;
    this.replies = data.replies;
    this.connect();
  }

  connect() {
    // A hidden tab lets go: a browser opens only six connections to a server, for all its tabs together.
    if (this.source || this.url === null || document.hidden) return;
    const source = (this.source = new EventSource(`${this.url}?after=${this.drawn}`));
    source.addEventListener("message", (event) => this.news(JSON.parse(event.data).at));
    // Who else is there is drawn by other parts of the page (pages/ui/chat/dots.js), notices by pages/ui/components/bell.js,
    // and what is new among the conversations by sidebar.js beside it.
    source.addEventListener("here", (event) => this.here(JSON.parse(event.data)));
    for (const name of ["inbox", "chats"])
      source.addEventListener(name, (event) => pass(`forky-${name}`, JSON.parse(event.data)));
    source.addEventListener("threads", (event) => this.discussed(JSON.parse(event.data).at));
    source.addEventListener("replies", (event) => this.written(JSON.parse(event.data).ids));
    source.addEventListener("open", () => { this.failed = 0; pass("forky-connected"); });
    source.addEventListener("error", () => {
      this.close();
      this.again = setTimeout(() => this.connect(), RETRY);
      // Where nothing is to be heard, as behind a proxy that keeps streams back, the page looks by itself.
      this.failed = (this.failed ?? 0) + 1;
      if (this.failed % 4 === 0 && !this.dialog()) this.tell(this.drawn);
    });
  }

  news(at) {
    this.soon("news", () => at > this.drawn, () => this.tell(at));
  }

  // The threads of the conversation have changed, which is no operation of it.
  discussed(at) {
    this.soon("threads", () => this.threads !== undefined && at > this.threads, () => this.tell(at));
  }

  // Tell it once neither a dialog nor a run of this tab is in the way, if it still is news then. A wish that meets another
  // one at the same moment is lost now and then, so it is told again.
  soon(of, isNews, tell) {
    let came = Date.now(), left = TRIES;
    clearTimeout(this.waiting[of]);
    const look = () => {
      if (!isNews() || !left) return;
      if (this.dialog() || this.isBusy(Date.now() - came)) { this.waiting[of] = setTimeout(look, LOOK); return; }
      left -= 1; came = Date.now() + AGAIN;
      tell();
      this.waiting[of] = setTimeout(look, AGAIN);
    };
    look();
  }

  isBusy(since) {
    if (since > LONG) return false;
    const state = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState;
    return state !== "notRunning" || (since < HEARD && document.querySelector(".fk-live") !== null);
  }

  // Other replies are being written in the conversation than the page has drawn.
  written(ids) {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => {
      if (this.replies === undefined || ids.join() === this.replies.join()) return;
      if (this.dialog()) { this.written(ids); return; }
      this.replies = ids;
      this.tell(this.drawn);
    }, LATE);
  }

  // A run would close one under the hands of whoever is in it.
  dialog() { return document.querySelector("[data-testid=stDialog]") !== null; }

  // What draws it may come later than this, and asks for what was told last.
  here(people) {
    window.__forkyHere = people;
    pass("forky-here", people);
  }

  close() {
    this.source?.close();
    clearTimeout(this.again);
    if (this.source) this.here([]); // Nobody tells who is there now; the next connection says it anew.
    this.source = null;
  }

  part() {
    this.close();
    for (const timer of [this.writing, ...Object.values(this.waiting)]) clearTimeout(timer);
    document.removeEventListener("visibilitychange", this.turned);
  }
}

let moves = null;
export default function ({ data, setTriggerValue }) {
  moves ??= new Moves();
  window.__forkyMoves = true;
  moves.hear(data, (at) => setTriggerValue("moved", at));
  return () => { moves?.part(); moves = null; window.__forkyMoves = false; };
}
