// Hands questions to the server until it says that each is stored; those of one branch one after the other. Each has an
// id, so that one that was stored without the browser hearing of it is not stored again.

const AGAIN = 4000; // Milliseconds until a question of which nothing was heard is handed over again.

class Posts {
  constructor() {
    this.sent = new Map(); // By id: when it was handed over.
    this.why = new Map(); // By id: what the server said of one that waits.
    this.editing = new Set(); // Ids of those that are being changed in this tab.
    this.timer = setInterval(() => this.go(), 1000);
    this.woken = () => this.go(true);
    for (const name of ["storage", "online"]) window.addEventListener(name, this.woken);
  }

  hear(data, tell) {
    // What the answer was to that another question waits for, may be another one now.
    if (data.version !== this.data?.version) for (const [id, one] of this.why) if (one.held) { one.held = false; this.sent.delete(id); }
    this.data = data; this.tell = tell;
    for (const [id, said] of Object.entries(data.heard)) this.heard(id, said);
    this.go();
  }

  heard(id, { state, why, at }) {
    const post = postOf(this.owner, id);
    if (!post || at === this.why.get(id)?.at) return;
    if (state === "stored" || state === "back") {
      dropPost(this.owner, id);
      for (const kept of [this.sent, this.why]) kept.delete(id);
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
    if (held) this.go(true);
    return held;
  }

  // What one waits for, as a word; "" for one whose turn it is.
  waitsFor(post, first) {
    if (this.editing.has(post.id)) return "change";
    if (!first) return "turn";
    if (this.data.writing.includes(`${post.c}/${post.b}`)) return "answer";
    if (this.why.get(post.id)?.held && !post.now) return "held";
    return "";
  }

  go(now = false) {
    if (!this.data) return;
    const seen = new Set();
    let next = null;
    for (const post of waiting(this.owner)) {
      const line = `${post.c}/${post.b}`;
      const waits = this.waitsFor(post, post.fork || !seen.has(line));
      seen.add(line);
      const since = Date.now() - (this.sent.get(post.id) ?? 0);
      if (!waits && since > AGAIN) next ??= post;
    }
    // One at a time: of two that are handed over at once the server hears of one.
    const last = Math.max(0, ...this.sent.values());
    if (next && (Date.now() - last > 300 || this.sent.size === 0)) {
      this.sent.set(next.id, Date.now());
      this.tell(next);
    }
    window.__forkyComposing?.show();
  }

  part() {
    clearInterval(this.timer);
    for (const name of ["storage", "online"]) window.removeEventListener(name, this.woken);
  }
}

let fields = null, posts = null;
export default function ({ data, setTriggerValue }) {
  fields ??= new Fields();
  posts ??= window.__forkyPosts = new Posts();
  fields.hear({ ...data, lines: data.lines.split(" ") });
  posts.hear({ ...data, heard: JSON.parse(data.heard), writing: JSON.parse(data.writing) }, (post) => setTriggerValue("post", post));
  return () => { fields?.part(); posts?.part(); fields = posts = window.__forkyPosts = null; };
}
