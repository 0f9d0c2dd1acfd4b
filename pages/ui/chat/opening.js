// The field of the first picture (opening.py). What is typed there is kept as the app keeps it, a question that is sent
// waits in the browser until the app hands it over (keeping/posts.js), and the app's field takes text, focus and caret
// over when it is there. Uses keeping/storage.js.

class EarlyField {
  constructor(foot) {
    const field = this.field = foot.querySelector("textarea"), goes = JSON.parse(field.dataset.goes);
    this.foot = foot;
    this.goes = { ...goes, files: JSON.parse(goes.files) };
    this.key = keyOf(goes.owner, "draft", goes.place);
    field.value = this.text;
    field.oninput = () => this.keep(field.value);
    for (const kind of ["compositionstart", "compositionend"]) field.addEventListener(kind, () => { this.composing = kind.endsWith("start"); });
    field.onkeydown = (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.altKey || composes(event)) return;
      if (!event.ctrlKey && !event.metaKey && matchMedia("(pointer: coarse)").matches) return;
      event.preventDefault();
      this.send();
    };
    foot.querySelector("button").onclick = () => { this.send(); field.focus(); };
    this.show();
  }

  get text() { return kept(this.key)?.text ?? this.field.value; }

  keep(text) {
    const files = kept(this.key)?.files ?? this.goes.files;
    if (text || files.length) keep(this.key, { text, files }); else drop(this.key);
  }

  send() {
    const text = this.field.value, files = kept(this.key)?.files ?? this.goes.files;
    if (!text.trim() && !files.length) return;
    const post = questionOf({ ...this.goes, files }, text), app = window.__forkyPosts;
    if (!(app ? app.add(post) : keepPost(this.goes.owner, post))) return;
    drop(this.key);
    this.field.value = "";
    this.show();
  }

  show() {
    const line = this.foot.querySelector("ol");
    const rows = waiting(this.goes.owner).filter(({ c, b }) => c === this.goes.c && b === this.goes.b)
      .map(({ text, files }) => Object.assign(document.createElement("li"), { textContent: text || `${files.length} file${files.length === 1 ? "" : "s"}` }));
    line.replaceChildren(...rows);
    line.hidden = !rows.length;
  }

  // Whether the app's field has taken over.
  goesOver() {
    const app = window.__forkyComposing, real = app?.field;
    if (!app?.data || !real || this.composing) return false;
    if (app.data.place !== this.goes.place) return true; // It is a draft there.
    const focused = document.activeElement === this.field, { text, field } = this;
    if (real.value !== text) app.put(text);
    if (focused) {
      real.focus({ preventScroll: true });
      real.setSelectionRange(field.selectionStart, field.selectionEnd, field.selectionDirection);
    }
    return true;
  }
}
