// Hands questions to the server until it says that each is stored; those of one branch one after the other. Each has an
// id, so that one that was stored without the browser hearing of it is not stored again.

const AGAIN = 4000; // Milliseconds until a question of which nothing was heard is handed over again, by any tab.
const CHANGES = 600_000; // Milliseconds that somebody may take to change one.
const APART = 300; // Milliseconds between two: of two that are handed over at once the server hears of one.
const LOOK = 1000;

class Posts {
  constructor() {
    this.sent = new Map(); // By id: when it was handed over.
    this.why = new Map(); // By id: what the server said of one that waits.
    this.editing = new Set(); // Ids of those that are being changed in this tab.
    this.last = 0; // When one was handed over.
    this.woken = ({ type, key }) => { if (type === "online" || key === null || key.startsWith(STORE)) this.go(); };
    for (const name of ["storage", "online"]) window.addEventListener(name, this.woken);
  }

  hear(data, tell) {
    // What the answer was to that another question waits for, may be another one now.
    if (data.version !== this.data?.version) for (const [id, one] of this.why) if (one.held) { one.held = false; this.free(id); }
    this.data = data; this.tell = tell;
    for (const [id, said] of Object.entries(data.heard)) this.heard(id, said);
    this.go();
  }

  heard(id, { state, why, at }) {
    const post = postOf(this.owner, id);
    if (!post || at === this.why.get(id)?.at) return;
    if (state === "stored" || state === "back") {
      this.drop(id);
      if (state === "back") this.giveBack(post);
    } else {
      this.why.set(id, { why, at, held: state === "held" });
      if (post.now) keepPost(this.owner, { ...post, now: false });
    }
  }

  // It could not be asked as it is: it is a draft again, before what was typed since.
  giveBack(post) {
    const key = keyOf(this.owner, "draft", post.place), held = kept(key);
    keep(key, { ...held, text: [post.text, held?.text].filter(Boolean).join("\n\n"), files: post.files });
    window.__forkyComposing?.settle();
  }

  get owner() { return this.data.owner; }

  add(post) {
    const held = keepPost(this.owner, post);
    if (held) this.go();
    return held;
  }

  drop(id) {
    dropPost(this.owner, id);
    for (const kept of [this.sent, this.why, this.editing]) kept.delete(id);
  }

  // Whose turn it is need not wait until it may be handed over again.
  free(id) { take(this.owner, id, 0); }

  change(id) {
    this.editing.add(id);
    take(this.owner, id, CHANGES);
  }

  changed(id, text) {
    this.editing.delete(id);
    const post = postOf(this.owner, id);
    if (post && text !== undefined) keepPost(this.owner, { ...post, text });
    if (post) this.free(id);
    this.go();
  }

  // What one waits for, as a word; "" for one whose turn it is.
  waitsFor(post, first) {
    if (this.editing.has(post.id)) return "change";
    if (post.fork) return ""; // It begins a branch, on which nothing is written.
    if (!first) return "turn";
    if (this.data.writing.includes(`${post.c}/${post.b}`)) return "answer";
    if (this.why.get(post.id)?.held && !post.now) return "held";
    return "";
  }

  // Hand over what may go, and look again later as long as any waits.
  go() {
    clearTimeout(this.timer);
    if (!this.data) return;
    const seen = new Set(), line = waiting(this.owner);
    let next = null;
    for (const post of line) {
      const of = `${post.c}/${post.b}`, waits = this.waitsFor(post, !seen.has(of));
      seen.add(of);
      if (!waits && Date.now() >= takenUntil(this.owner, post.id)) next ??= post;
    }
    if (next && Date.now() - this.last > APART) {
      this.last = Date.now();
      this.sent.set(next.id, this.last);
      take(this.owner, next.id, AGAIN);
      this.tell(next);
    }
    if (line.length) this.timer = setTimeout(() => this.go(), LOOK);
    window.__forkyComposing?.show();
  }

  part() {
    clearTimeout(this.timer);
    for (const name of ["storage", "online"]) window.removeEventListener(name, this.woken);
  }
}

let fields = null, posts = null;
export default function ({ data, setTriggerValue }) {
  fields ??= new Fields();
  posts ??= window.__forkyPosts = new Posts();
  fields.hear(data);
  posts.hear({ ...data, heard: JSON.parse(data.heard), writing: JSON.parse(data.writing) }, (post) => setTriggerValue("post", post));
  return () => { fields?.part(); posts?.part(); fields = posts = window.__forkyPosts = null; };
}
