// What a plain text area lacks as a composer: Enter sends, files can be dropped and pasted, what is typed is kept as it
// goes, and what waits in line stands above it. Uses keeping/storage.js; keeping/posts.js hands questions over.

const FILES = '.st-key-chat-files input[type="file"]';
const SAID = 700; // Milliseconds after the last key until the server is told.
const SHOWN = 700; // Milliseconds in which a question that is handed over is not yet shown as waiting.
const LOOKS = [0, 60, 300, 1000, 2500]; // Milliseconds after news at which the field is looked at.
const WAITS = {
  answer: "Waits until the answer is finished.", turn: "Waits for its turn.",
  away: "Not stored yet. It is kept in this browser and sent as soon as Forky can store it.",
};
const CHANGED = "Not sent, because the page was just changing. Look where you are, and send it again.";

class Composing {
  constructor(box) {
    this.box = box;
    // Files may be pasted and dropped anywhere on the page, and “+” opens outside of the box.
    this.ears = [["input", this.typed], ["focusout", this.left], ["keydown", this.key], ["click", this.press],
      ["paste", this.paste], ["dragover", this.over], ["dragleave", this.leave], ["drop", this.dropped]].map(([kind, ear]) => [kind, ear.bind(this)]);
    for (const [kind, ear] of this.ears) document.addEventListener(kind, ear, true);
    this.sentElsewhere = ({ key, newValue }) => {
      if (!this.data || key !== this.draftKey || newValue !== null || this.field?.value !== this.shared) return;
      this.shared = null; this.put(""); this.soon();
    };
    window.addEventListener("storage", this.sentElsewhere);
    this.watch = new MutationObserver(() => this.mend());
    this.watch.observe(box, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
    this.dialogs = new MutationObserver(() => this.dismiss());
    this.dialogs.observe(document.body, { childList: true });
    this.stamp = ""; this.said = null; this.drawn = ""; this.at = -1;
    this.shared = null; // What this tab shows of what another one, or an earlier one, left here.
    this.left = ""; // What was typed at the place before, as long as the field may still hold it.
    this.refused = "";
    this.mend();
  }

  get field() { return this.box.querySelector(".st-key-chat-draft textarea"); }
  get draftKey() { return keyOf(this.data.owner, "draft", this.data.place); }

  // Streamlit names a button after its icon, and switches a field off while the server is away (docs/streamlit.md).
  mend() {
    this.box.querySelector(".st-key-chat-files button:not([aria-label])")?.setAttribute("aria-label", "Attach files");
    if (this.data?.mends) for (const off of this.box.querySelectorAll(".st-key-chat-draft textarea:disabled, [class*=st-key-chat-send-] button:disabled")) off.removeAttribute("disabled");
  }

  // While a server is away Streamlit puts a dialog over the page, in which nothing can be typed; the line above the field
  // says the same. Once it was closed, it does not come back until the server does (docs/streamlit.md).
  dismiss() {
    if (!this.data?.mends) return;
    const over = [...document.querySelectorAll("[data-testid=stDialog]")].find((one) => one.textContent.trim().startsWith("Connection error"));
    over?.querySelector("button[aria-label=Close]")?.click();
  }

  hear(data, tell, line, takeUp) {
    const turned = this.data && this.data.place !== data.place, renewed = this.data?.session !== data.session;
    if (this.timer && turned) this.tellServer();
    const shown = this.field?.value ?? "";
    if (turned && shown !== this.left) this.left = shown === kept(this.draftKey)?.text ? shown : "";
    // The list in which a model was chosen is gone, and the next key is meant for the question.
    if (this.data && !turned && (this.data.also !== data.also || this.data.model !== data.model)) window.__forkyCursor?.compose();
    this.data = { ...data, files: JSON.parse(data.files) };
    Object.assign(this, { tell, line, takeUp });
    const [stamp, place, text] = JSON.parse(data.filled);
    if (stamp && stamp !== this.stamp) {
      this.stamp = stamp;
      const key = keyOf(data.owner, "draft", place);
      if (text) keep(key, { text, files: this.data.files }); else drop(key);
    }
    const held = kept(this.draftKey);
    // A server that was started anew does not know which files were attached.
    this.lost = renewed && !this.data.files.length && held?.files?.length ? held.files : null;
    if (!this.lost && held && JSON.stringify(held.files ?? []) !== data.files) this.keepDraft(held.text ?? "");
    this.mend();
    this.settle();
    if (this.lost) this.tellServer();
    this.show();
  }

  // The field holds what was typed here, whatever a server says that has just come back.
  settle() {
    for (const timer of this.looks ?? []) clearTimeout(timer);
    this.looks = LOOKS.map((after) => setTimeout(() => {
      const field = this.field, held = this.data && kept(this.draftKey);
      if (!field || !held || typeof held.text !== "string") return;
      if (!isMine(this.draftKey)) this.shared = held.text;
      if (field.value === held.text) return;
      this.put(held.text);
      this.soon();
    }, after));
  }

  // Streamlit hands a text area's value over on Ctrl+Enter. The button's shortcut, which listens further out, must not hear it.
  put(text) {
    const field = this.field;
    if (!field) return;
    this.putting = true;
    write(field, text);
    const handing = new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true });
    const hush = (heard) => { if (heard === handing) heard.stopPropagation(); };
    document.body.addEventListener("keydown", hush);
    field.dispatchEvent(handing);
    document.body.removeEventListener("keydown", hush);
    this.putting = false;
  }

  keepDraft(text) {
    const files = this.lost ?? this.data.files;
    if (text || files.length) keep(this.draftKey, { text, files }); else drop(this.draftKey);
  }

  soon() { clearTimeout(this.timer); this.timer = setTimeout(() => this.tellServer(), SAID); }

  tellServer() {
    clearTimeout(this.timer); this.timer = 0;
    const text = (kept(this.draftKey)?.text) ?? this.field?.value ?? "", said = JSON.stringify([this.data.place, text]);
    if (said === this.said && !this.lost) return;
    this.said = said;
    this.tell({ place: this.data.place, text, ...(this.lost ? { files: this.lost } : {}) });
    this.lost = null;
  }

  typed(event) {
    if (event.target !== this.field || this.putting) return;
    this.shared = null; this.left = "";
    if (this.refused) { this.refused = ""; this.show(); }
    this.keepDraft(event.target.value);
    this.soon();
    this.offer();
  }

  // A slash at the start of the field offers what was put aside, and some verbs of the keyboard.
  get offered() {
    const typed = /^\/([^/\n]{0,40})$/.exec(this.field?.value ?? "")?.[1].toLowerCase();
    return typed === undefined ? [] : JSON.parse(this.data.offers).filter(([label]) => label.toLowerCase().includes(typed)).slice(0, 9);
  }

  offer(at = 0, offered = this.offered) {
    const list = this.line.parentNode.querySelector(".offers"), status = list.nextElementSibling;
    this.at = offered.length ? (at + offered.length) % offered.length : -1;
    list.replaceChildren(...offered.map((one, number) => {
      const row = Object.assign(document.createElement("li"), { textContent: one[0], role: "option", ariaSelected: String(number === this.at) });
      row.onpointerdown = (event) => { event.preventDefault(); this.choose(one); };
      return row;
    }));
    list.hidden = !offered.length;
    status.textContent = offered[this.at]?.[0] ?? "";
  }

  choose([, what]) {
    this.put(""); this.keepDraft(""); this.soon(); this.offer();
    if (typeof what === "number") this.takeUp(what); else window.__forkyDo?.(what);
  }

  // Whether the key was one for the list.
  steer(event) {
    const offered = this.at >= 0 ? this.offered : [], by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!offered.length || (!by && !["Enter", "Escape"].includes(event.key))) return false;
    event.preventDefault(); event.stopPropagation();
    if (by) this.offer(this.at + by); else if (event.key === "Enter") this.choose(offered[this.at]); else this.offer(0, []);
    return true;
  }

  left(event) { if (this.timer && event.target === this.field) this.tellServer(); }

  key(event) {
    if (event.target !== this.field || this.putting) return;
    if (this.steer(event)) return;
    if (event.key === "Escape") { this.field.blur(); return; }
    if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
    const asks = event.ctrlKey || event.metaKey;
    if (!asks && matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault(); event.stopPropagation();
    this.send();
  }

  press(event) {
    if (event.target.closest?.(".st-key-chat-attach button")) this.box.querySelector(FILES)?.click();
    if (!event.target.closest?.("[class*=st-key-chat-send-] button")) return;
    if (this.send()) { event.preventDefault(); event.stopPropagation(); }
  }

  // Streamlit changes a page piece by piece. A question goes where its field was drawn for, or nowhere: not while the Send
  // button is of another place than `data` is, and not where the field still holds what was typed at the place before.
  isChanging(text) {
    const left = text !== "" && text === this.left && text !== kept(this.draftKey)?.text;
    this.left = "";
    return left || !this.box.querySelector(`.st-key-${this.data.button}`);
  }

  // Whether the question is in this browser's keeping now, or refused. Without it the server's button does its part.
  send() {
    const field = this.field, { place, files } = this.data;
    if (!field || !window.__forkyPosts) return false;
    const text = field.value;
    if (!text.trim() && !files.length) return true;
    this.refused = this.isChanging(text) ? CHANGED : "";
    if (this.refused) { this.show(); return true; }
    if (!window.__forkyPosts.add(questionOf(this.data, text))) return false;
    clearTimeout(this.timer); this.timer = 0;
    drop(this.draftKey);
    this.put("");
    this.said = JSON.stringify([place, ""]);
    return true;
  }

  ofLine() { return waiting(this.data.owner).filter((post) => post.c === this.data.c && post.b === this.data.b); }

  // The questions of this branch that are not stored yet, above the field.
  show() {
    const posts = window.__forkyPosts;
    if (!this.data || !posts) return;
    const ofLine = this.ofLine();
    const told = [];
    for (const [at, post] of ofLine.entries()) {
      const waits = posts.waitsFor(post, at === 0), said = posts.why.get(post.id)?.why;
      const goes = waits === "" && !said && Date.now() - (posts.sent.get(post.id) ?? Date.now()) < SHOWN;
      if (!goes) told.push([post.id, post.text, post.files.length, waits, WAITS[waits] ?? said ?? WAITS.away]);
    }
    const drawn = JSON.stringify([told, this.refused]);
    if (drawn === this.drawn || posts.editing.size) return;
    this.drawn = drawn;
    if (told.length < ofLine.length) setTimeout(() => this.show(), SHOWN);
    this.line.replaceChildren(...told.map(([id, text, files, waits, why]) => this.row(id, text, files, waits, why)));
    if (this.refused) this.line.append(Object.assign(document.createElement("li"), { textContent: this.refused }));
    this.line.hidden = !told.length && !this.refused;
  }

  row(id, text, files, waits, why) {
    const made = (kind, name, said = "") => Object.assign(document.createElement(kind), { className: name, textContent: said });
    const posts = window.__forkyPosts, owner = this.data.owner, row = made("li", "waiting");
    const words = made("p", "words", text || `${files} file${files === 1 ? "" : "s"}`);
    const button = (label, act) => { const one = made("button", "", label); one.type = "button"; one.onclick = act; return one; };
    const change = () => {
      posts.change(id);
      const field = made("textarea", "words");
      field.value = text; field.setAttribute("aria-label", "The waiting question");
      const end = (save) => {
        this.drawn = "";
        posts.changed(id, save ? field.value : undefined);
        this.show();
        this.field?.focus({ preventScroll: true });
      };
      field.onkeydown = (event) => {
        event.stopPropagation();
        if (event.key === "Escape") end(false);
        if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); end(true); }
      };
      row.replaceChildren(field, button("Keep", () => end(true)), button("Leave as it was", () => end(false)));
      field.focus();
    };
    const act = (work) => () => { work(); this.drawn = ""; this.show(); posts.go(); };
    row.append(words, made("span", "why", why));
    if (waits === "held") row.append(button("Send now", act(() => { const post = postOf(owner, id); if (post) keepPost(owner, { ...post, now: true }); posts.free(id); })));
    const cross = button("✕", act(() => posts.drop(id)));
    cross.ariaLabel = "Drop this question";
    row.append(button("Change", change), cross);
    return row;
  }

  take(files) {
    const input = this.box.querySelector(FILES);
    if (!input || !files.length) return false;
    const bag = new DataTransfer();
    for (const file of files) bag.items.add(file);
    input.files = bag.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    return true;
  }

  // Other fields and other uploaders take files of their own.
  isElsewhere({ target }) { return !this.box.contains(target) && target.closest?.("textarea, input, [data-testid=stFileUploaderDropzone], dialog, [role=dialog]"); }
  paste(event) { if (!this.isElsewhere(event) && this.take(event.clipboardData?.files ?? [])) event.preventDefault(); }
  over(event) {
    if (!event.dataTransfer?.types.includes("Files") || this.isElsewhere(event)) return;
    event.preventDefault(); this.box.classList.add("fk-drop");
  }
  leave(event) { if (!event.relatedTarget) this.box.classList.remove("fk-drop"); }
  dropped(event) {
    this.box.classList.remove("fk-drop");
    if (!this.isElsewhere(event) && this.take(event.dataTransfer?.files ?? [])) { event.preventDefault(); event.stopPropagation(); }
  }

  part() {
    if (this.timer) this.tellServer();
    for (const timer of this.looks ?? []) clearTimeout(timer);
    this.watch.disconnect();
    this.dialogs.disconnect();
    window.removeEventListener("storage", this.sentElsewhere);
    for (const [kind, ear] of this.ears) document.removeEventListener(kind, ear, true);
  }
}

export default function ({ data, setTriggerValue, parentElement }) {
  const box = document.querySelector(".st-key-chat-composer");
  if (!box) return;
  let composing = window.__forkyComposing;
  if (composing?.box !== box) { composing?.part(); composing = window.__forkyComposing = new Composing(box); }
  composing.hear(data, (draft) => setTriggerValue("draft", draft), parentElement.querySelector(".line"),
    (number) => setTriggerValue("taken", { number, n: Date.now() }));
  return () => { if (window.__forkyComposing === composing) { composing.part(); window.__forkyComposing = null; } };
}
