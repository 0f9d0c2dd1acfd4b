// What is typed and what is being sent, in this browser's own keeping: it outlives a reload, a closed browser, and a
// server or a database that is away. A draft is kept twice: for this tab, and for whichever tab opens the place next.
// Each person of a shared browser has keys of their own, and signing out removes them (/sign-out).

const STORE = "forky.kept";
const MOST_DRAFTS = 300, LONGEST = 1_000_000;

const safely = (work) => { try { return work(); } catch { return null; /* Storage is refused or full. */ } };
const keyOf = (owner, kind, name) => `${STORE}/${owner}/${kind}/${name}`;

// What is kept at a key: this tab's, or else what another tab or an earlier one left there.
const kept = (key) => safely(() => JSON.parse(sessionStorage.getItem(key) ?? localStorage.getItem(key)));

const isMine = (key) => safely(() => JSON.parse(sessionStorage.getItem(key))) !== null;

function keep(key, value) {
  const said = JSON.stringify({ ...value, at: Date.now() });
  if (said.length > LONGEST) return;
  for (const area of [sessionStorage, localStorage]) safely(() => area.setItem(key, said));
}

function drop(key) {
  safely(() => {
    const mine = sessionStorage.getItem(key), left = localStorage.getItem(key);
    if (mine === null || mine === left) localStorage.removeItem(key);
    sessionStorage.setItem(key, "null"); // What another tab leaves there from now on is not this tab's.
  });
}

const keysOf = (owner, kind) => safely(() => Object.keys(localStorage).filter((key) => key.startsWith(keyOf(owner, kind, "")))) ?? [];

// The drafts that were touched longest ago go first.
function prune(owner, kind) {
  const keys = keysOf(owner, kind);
  if (keys.length <= MOST_DRAFTS) return;
  const at = (key) => safely(() => JSON.parse(localStorage.getItem(key)).at) ?? 0;
  for (const key of keys.sort((a, b) => at(a) - at(b)).slice(0, keys.length - MOST_DRAFTS)) safely(() => localStorage.removeItem(key));
}

// The questions that the server has not said to have stored, oldest first. All tabs share them.
const waiting = (owner) => keysOf(owner, "post").map((key) => safely(() => JSON.parse(localStorage.getItem(key)))).filter((post) => post?.id)
  .sort((a, b) => a.asked - b.asked);
const postOf = (owner, id) => safely(() => JSON.parse(localStorage.getItem(keyOf(owner, "post", id))));
const keepPost = (owner, post) => safely(() => { localStorage.setItem(keyOf(owner, "post", post.id), JSON.stringify(post)); return true; });
const dropPost = (owner, id) => safely(() => { for (const kind of ["post", "taken"]) localStorage.removeItem(keyOf(owner, kind, id)); });
// Until when a tab has taken a question to itself, to hand it over or to change it: the others leave it alone.
const takenUntil = (owner, id) => Number(safely(() => localStorage.getItem(keyOf(owner, "taken", id))) ?? 0);
const take = (owner, id, milliseconds) => safely(() => localStorage.setItem(keyOf(owner, "taken", id), String(Date.now() + milliseconds)));

// A question as it is handed over, of what the page says of its place (chat/drafting.py). It waits for those before it.
function questionOf({ owner, place, c, b, seen, fork, own, person, model, also, search, files, writing }, text) {
  const waits = writing || waiting(owner).some((post) => post.c === c && post.b === b);
  return { id: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`, asked: Date.now(), place, c, b,
    seen: waits ? null : seen, fork, own, person, model, also, search, files, text };
}

// React keeps a field's value: it is set as the browser would, and left, so that the next request says it.
function write(field, text) {
  if (field.value !== text) {
    const kind = field.matches("textarea") ? HTMLTextAreaElement : HTMLInputElement;
    Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
const composes = (event) => event.isComposing || event.keyCode === 229; // Safari's Enter that ends a conversion says only 229.
