const steps = [...document.querySelectorAll(".step")], served = read("served");
const deck = by("deck"), ribbon = by("ribbon"), told = by("told"), place = by("place"), map = by("map");
const asked = new URLSearchParams(location.search);
let at = 0, face = null;
if (served) root.classList.add("from-server");

// Where one is, as text: the key of the step, and after "~" which of several answers.
const where = () => steps[at].id + (face === null ? "" : `~${face}`);
const facesOf = (step) => [...step.querySelectorAll(".faces > .face")];
const homeOf = (faces) => Math.max(0, faces.findIndex((one) => one.classList.contains("home")));
for (const step of steps) facesOf(step).find((one) => one.classList.contains("chosen"))?.classList.add("home");

for (const step of steps) {
  const bit = document.createElement("i");
  if (["branches", "block", "landed"].some((kind) => step.classList.contains(kind))) bit.className = "merge";
  if (steps.length <= 160) ribbon.append(bit);
}
let fading = 0;
const say = (sentence, seconds = 3.5) => {
  told.textContent = sentence;
  told.classList.toggle("up", Boolean(sentence));
  clearTimeout(fading);
  if (sentence && seconds) fading = setTimeout(() => told.classList.remove("up"), seconds * 1000);
};

// Type is as large as fits: a short message fills the screen; what is too long for 1.5 times the app's 15 pixels scrolls.
const SIZES = [30, 28, 26, 24.5, 22.5], LARGE = [60, 52, 46, 40, 35, 30, 26]; // Of a message with little text.
const fit = () => {
  const step = steps[at], wide = [...step.querySelectorAll(".face.chosen :is(pre, .wide)")];
  const sizes = innerWidth < 700 ? [22.5] : innerWidth < 1100 ? SIZES.slice(2) : SIZES;
  const large = step.matches(".user, .assistant") && !step.matches(".together") ? LARGE.filter((one) => one <= innerWidth / 13) : [];
  for (const size of [...large, ...sizes]) {
    document.body.style.setProperty("--size", `${size}px`);
    const fits = step.scrollHeight <= step.clientHeight + 1;
    if (fits && (size <= sizes[0] || wide.every((one) => one.scrollWidth <= one.clientWidth))) break;
  }
};

const show = (number, chosen = null, quietly = false) => {
  const before = steps[at];
  at = Math.min(Math.max(number, 0), steps.length - 1);
  const step = steps[at], faces = facesOf(step);
  face = faces.length ? chosen : null;
  if (before !== step) before.classList.remove("now");
  step.classList.add("now");
  const box = step.querySelector(".faces");
  if (box) {
    const all = face === "all", one = face === null || all ? homeOf(faces) : Math.min(Number(face), faces.length - 1);
    box.classList.toggle("together", all);
    step.classList.toggle("together", all);
    faces.forEach((each, index) => each.classList.toggle("chosen", all || index === one));
  }
  if (before !== step || quietly === false) step.scrollTop = 0;
  fit();
  [...ribbon.children].forEach((bit, index) => {
    bit.classList.toggle("now", index === at);
    bit.classList.toggle("done", index < at);
  });
  place.textContent = `${at + 1} / ${steps.length}`;
  document.title = `${step.getAttribute("aria-label")} – ${steps[0].getAttribute("aria-label")}`;
  history.replaceState(history.state, "", `#${where()}`);
  step.focus({ preventScroll: true });
  mark();
  if (!quietly) { wire.tell(); stage.tell(); }
};
const goTo = (target, quietly = false) => {
  const [key, chosen = null] = target.split("~");
  const number = steps.findIndex((step) => step.id === key);
  if (number < 0) return false;
  show(number, chosen, quietly);
  return true;
};
const next = () => show(at + 1);
const back = () => show(at - 1);
const turn = (by) => {
  const faces = facesOf(steps[at]);
  if (!faces.length) return false;
  const order = [...faces.keys(), "all"].map(String);
  const now = face === null ? homeOf(faces) : face === "all" ? faces.length : Number(face);
  const then = order[(now + by + order.length) % order.length];
  show(at, then === String(homeOf(faces)) ? null : then);
  return true;
};
const scroll = (by) => {
  const step = steps[at], before = step.scrollTop;
  step.scrollBy({ top: by * step.clientHeight * 0.85, behavior: "instant" });
  return Math.abs(step.scrollTop - before) > 2;
};

// The map: the row of the step is marked; a row leads to its step, or to the branch that it is on.
const mark = () => {
  if (!map) return;
  const key = steps[at].id.replace(/-(branches|block)$/, "");
  let found = null;
  for (const row of map.querySelectorAll("a")) {
    const here = row.dataset.face !== undefined ? face === row.dataset.face && row.dataset.key === key
      : row.dataset.key === key && (face === null || face === "all");
    row.classList.toggle("here", here);
    if (here) found = row;
  }
  if (map.classList.contains("open")) found?.scrollIntoView({ block: "nearest" });
};
map?.addEventListener("click", (event) => {
  const row = event.target.closest("a");
  if (!row) return;
  event.preventDefault();
  if (row.dataset.branch !== undefined) {
    if (!served || stage.watching) { say("This message is on another branch, which is not part of this presentation."); return; }
    location.assign(`${location.pathname}?${new URLSearchParams({ b: row.dataset.branch })}#${row.dataset.key}`);
    return;
  }
  goTo(row.dataset.face === undefined ? row.dataset.key : `${row.dataset.key}~${row.dataset.face}`);
});

const panels = [...document.querySelectorAll(".panel")];
const open = (id) => {
  for (const panel of panels) panel.classList.toggle("open", panel.id === id && !panel.classList.contains("open"));
  mark();
};
const shut = () => {
  const was = panels.some((panel) => panel.classList.contains("open"));
  for (const panel of panels) panel.classList.remove("open");
  return was;
};

// The notes window is this document again. The two tell each other where they are.
const channelOf = asked.get("notes") || kept(session, "forky-notes") || Math.random().toString(36).slice(2);
const wire = {
  channel: null,
  other: asked.has("notes") ? window.opener : null,
  tell() { this.send({ at: where() }); },
  send(told) {
    const word = { forky: channelOf, ...told };
    this.channel?.postMessage(word);
    if (location.protocol === "file:" && this.other && !this.other.closed) this.other.postMessage(word, "*");
  },
  hear(word) {
    if (word?.forky !== channelOf) return;
    if (word.ask) this.tell();
    if (typeof word.at === "string" && word.at !== where()) { goTo(word.at, true); stage.tell(); speaker?.draw(); }
  },
};
try { wire.channel = new BroadcastChannel(`forky-present-${channelOf}`); } catch { /* Not in every browser for a file. */ }
if (wire.channel) wire.channel.onmessage = (event) => wire.hear(event.data);
window.addEventListener("message", (event) => wire.hear(event.data));
const notes = () => {
  kept(session, "forky-notes", channelOf);
  const url = new URL(location.href);
  url.searchParams.set("notes", channelOf);
  wire.other = window.open(url, `forky-notes-${channelOf}`, "popup,width=760,height=820");
  if (!wire.other) say("The browser did not open the window for the notes. Allow it to open windows for this address.", 7);
};

const element = (name, text = "", className = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
};
let speaker = null;
if (asked.has("notes")) {
  root.classList.add("notes-window");
  const box = document.createElement("div"), began = Date.now();
  box.id = "speaker";
  const clock = element("div", "", "clock"), said = element("div"), coming = element("div", "", "coming");
  const spent = element("b"), time = element("span"), count = element("span"), again = element("button", "Start again");
  let since = began;
  again.addEventListener("click", () => { since = Date.now(); tick(); });
  const tick = () => {
    const seconds = Math.floor((Date.now() - since) / 1000);
    spent.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    time.textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  };
  clock.append(spent, again, time, count);
  // What the speaker writes is kept with the message, by the server that served the page.
  const field = document.createElement("textarea");
  field.placeholder = "What you want to say here";
  field.setAttribute("aria-label", "Your note at this step");
  let noteOf = null, waiting = 0;
  const save = async () => {
    clearTimeout(waiting);
    const of = noteOf;
    if (!of || field.value === of.dataset.note) return;
    const text = field.value, message = of.closest(".step").dataset.node;
    for (const step of steps) if (step.dataset.node === message) step.querySelector(".notes").dataset.note = text;
    await stage.post(served.notes, { message, text });
  };
  field.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(save, 4000); });
  field.addEventListener("change", save);
  window.addEventListener("pagehide", save);
  const write = (list) => {
    if (noteOf === list) return;
    save();
    noteOf = served?.notes && list.dataset.note !== undefined && list.closest(".step").dataset.node ? list : null;
    field.hidden = !noteOf;
    field.value = noteOf ? noteOf.dataset.note : "";
  };
  box.append(clock, said, field, coming);
  document.body.append(box);
  speaker = {
    draw() {
      const step = steps[at], following = steps[at + 1];
      const list = step.querySelector(".notes").cloneNode(true);
      list.hidden = false;
      write(step.querySelector(".notes"));
      const words = (step.querySelector(".face.chosen .prose, .prose") || step.querySelector(".sheet")).innerText.trim();
      said.replaceChildren(element("h2", step.getAttribute("aria-label")), element("p", words.slice(0, 900), "excerpt"), list);
      coming.textContent = following ? `Next: ${following.getAttribute("aria-label")}` : "This is the last step.";
      count.textContent = `${at + 1} of ${steps.length}`;
    },
  };
  setInterval(tick, 500);
  tick();
}

// Following: who presents posts the step; who follows gets it as an event. Both from the server that served the page.
const RETRY = 4000;
let secret = kept(local, "forky-guest");
// By this the server knows that two votes are of one browser. It names nobody.
const guest = () => {
  secret ||= [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");
  kept(local, "forky-guest", secret);
  return secret;
};
const stage = {
  watching: Boolean(served?.follow), free: false, ended: false, lost: false, token: null, id: null, epoch: 0, stream: null, last: "", beginning: false, busy: false, away: false, target: "", asked: 0,
  async begin() {
    if (!served || this.watching || this.beginning) return;
    // It opens before the answer is there: Escape shuts it then, and does not leave the presentation.
    if (this.id || !by("followers").classList.contains("open")) open("followers");
    if (this.id) return;
    this.beginning = true;
    by("followers-link").value = "";
    by("followers-said").textContent = "The link is being made.";
    const at = where();
    const answer = await this.post(served.begin, { at, place: served.place });
    this.beginning = false;
    if (!answer) { by("followers").classList.remove("open"); return; }
    Object.assign(this, { id: answer.id, token: answer.token, epoch: answer.epoch });
    kept(session, `forky-stage-${served.conversation}`, JSON.stringify({ id: this.id, token: this.token, epoch: this.epoch }));
    by("followers-link").value = new URL(`../s/${answer.id}`, location.href).href;
    by("followers-said").textContent = answer.sentence;
    if (answer.code) {
      const code = Object.assign(document.createElement("img"), { src: answer.code, alt: "The same address as a code for phones" });
      by("followers-code").replaceChildren(code);
    }
    this.listen(new URL(`follow/${this.id}?after=1`, location.href));
    if (where() !== at) this.tell();
  },
  // What those who follow have asked. It is theirs to write and the presenter's to read: texts by textContent.
  questions(list = []) {
    const waiting = list.filter((one) => !one.branch && !one.said).length, asked = by("asked");
    if (waiting > Number(asked.dataset.waiting || 0)) say("A question came in. Q shows it.", 4);
    Object.assign(asked, { hidden: !list.length, textContent: `${list.length} question${list.length === 1 ? "" : "s"}` });
    asked.dataset.waiting = waiting;
    const button = (label, press) => {
      const made = element("button", label);
      made.type = "button";
      made.addEventListener("click", press);
      return made;
    };
    by("questions").querySelector("ul").replaceChildren(...list.map((one) => {
      const line = element("li"), acts = element("p"), question = one.number;
      line.append(element("p", one.text, "words"), acts);
      if (one.at) acts.append(button("Show the answer", () => location.assign(`${location.pathname}?${new URLSearchParams({ b: one.branch })}#${one.at}`)));
      else if (one.branch) acts.append(element("span", one.said || `A model is answering it on “${one.branch}”.`));
      else acts.append(button("Put it to the model", () => this.told({ question })));
      acts.append(button(one.branch ? "Take it off the list" : "Drop it", () => this.told({ question, drop: true })));
      return line;
    }));
    if (!list.length && by("questions").classList.contains("open")) shut();
  },
  async told(what) {
    const answer = await this.post(`step/${this.id}`, { token: this.token, ...what });
    if (answer) this.questions(answer.questions);
  },
  async post(address, body) {
    try {
      const answer = await fetch(new URL(address, location.href), { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
      const told = await answer.json().catch(() => ({}));
      if (answer.ok) return told;
      say(told.error?.message || "The server did not take that.", 9);
      if (!this.watching && (answer.status === 409 || (answer.status === 404 && !body.question))) this.stop();
    } catch { say("The server cannot be reached. Whoever follows stays at the step before.", 6); }
    return null;
  },
  async tell() {
    if (!this.id || this.watching) return;
    this.last = where();
    if (this.busy) return;
    this.busy = true;
    for (let sent = ""; this.id && sent !== this.last;) {
      sent = this.last;
      await this.told({ at: sent, place: served.place });
    }
    this.busy = false;
  },
  async end() {
    if (!this.id) return;
    await this.post(`step/${this.id}`, { end: true, token: this.token });
    this.stop();
    shut();
    say("Nobody follows any more.");
  },
  stop() {
    this.stream?.close();
    Object.assign(this, { id: null, token: null, stream: null });
    this.questions();
    kept(session, `forky-stage-${served.conversation}`, "");
  },
  listen(address) {
    this.stream?.close();
    this.stream = new EventSource(address);
    this.stream.onopen = () => { if (this.lost) say("The connection is back.", 2); this.lost = false; };
    this.stream.onmessage = (event) => this.hear(JSON.parse(event.data));
    this.stream.addEventListener("end", () => {
      this.stream.close();
      if (this.watching) this.over();
      else if (this.id) { this.stop(); shut(); say("Nobody follows any more: this presentation was ended, or its conversation is in the trash.", 0); }
    });
    this.stream.onerror = () => {
      if (this.ended) return;
      this.lost = true;
      say("The connection is lost. What was shown stays here, and it goes on by itself when the server is back.", 0);
      if (this.watching && this.stream.readyState === EventSource.CLOSED) setTimeout(() => this.retry(address), RETRY);
    };
  },
  // The browser itself tries again only while the server is away, not after it refused.
  async retry(address) {
    const answer = await fetch(location.href, { method: "HEAD" }).catch(() => null);
    if ([404, 410].includes(answer?.status)) this.over();
    else if (!this.ended) this.listen(address);
  },
  over() {
    Object.assign(this, { free: true, ended: true });
    say("The presentation has ended. It stays here, and the arrows step through it.", 0);
  },
  // A poll that is open, then its result, on the same page.
  vote({ poll, voting }) {
    const button = by("vote"), now = `${poll} ${voting}`;
    button.hidden = !poll;
    button.textContent = voting ? "Vote: which answer is better?" : "See how the vote came out";
    if (button.dataset.now !== now && by("ballot").classList.contains("open")) this.ballot();
    button.dataset.now = now;
  },
  async ballot(choice = "") {
    const told = await this.post(`../ballot/${served.follow.split("/").pop()}`, { guest: guest(), choice });
    if (!told) { shut(); return; }
    // The server drew the answers as it drew the steps of this page, by the same rules.
    const prose = (html) => {
      const made = element("div", "", "prose");
      made.append(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
      return made;
    };
    const lines = [...told.options, ...told.others].map((one) => {
      const line = element("li", "", one.leads ? "leads" : ""), head = element("p");
      const share = one.votes === undefined ? "" : `${one.votes} ${one.votes === 1 ? "vote" : "votes"}`;
      const facts = [one.by, share, one.choice === told.mine ? "your vote" : ""].filter(Boolean).join(" · ");
      const name = element(told.open ? "button" : "b", told.open && one.prose !== undefined ? `Vote for ${one.name}` : one.name);
      if (told.open) {
        Object.assign(name, { type: "button", disabled: one.prose === "" });
        name.setAttribute("aria-pressed", one.choice === told.mine);
        name.addEventListener("click", () => this.ballot(one.choice));
      }
      head.append(name, element("small", facts));
      if (one.prose !== undefined) line.append(one.prose ? prose(one.prose) : element("p", "This answer was removed.", "aside"));
      line.append(head);
      return line;
    });
    const list = element("ul");
    list.append(...lines);
    const voters = `${told.voters} ${told.voters === 1 ? "person has" : "people have"} voted.`;
    by("ballot").replaceChildren(element("h2", told.title), element("p", told.open && told.mine ? `${voters} You can change your vote until it ends.` : voters, "aside"), list);
  },
  async ask() {
    const text = by("asking-text").value.trim();
    if (!text || !(await this.post(`../ask/${served.follow.split("/").pop()}`, { guest: guest(), text }))) return;
    by("asking-text").value = "";
    shut();
    say("Sent. Whoever presents reads it first.");
  },
  hear(told) {
    if (!this.watching) {
      if (told.epoch > this.epoch && this.id) {
        this.stop();
        shut();
        say("Somebody else presents this conversation now, and whoever followed you follows them. V takes it back.", 0);
      } else {
        if (told.asked !== this.asked) this.told({ at: where(), place: served.place });
        this.asked = told.asked;
        by("followers-said").textContent = told.followers === 1 ? "1 follows." : `${told.followers || "Nobody"} follow${told.followers ? "" : "s yet"}.`;
      }
      return;
    }
    this.vote(told);
    by("ask").hidden = false;
    if (told.away !== this.away) {
      this.away = told.away;
      if (told.away) say("The presenter has gone. What was shown stays here.", 6);
    }
    this.target = told.at;
    if (told.place !== served.place) { this.again(told); return; }
    if (this.free) return;
    if (!goTo(told.at, true)) this.again(told);
  },
  again(told) {
    // Another document than this one: once for each, else a server that cannot draw it would be asked for ever.
    const wanted = `${told.place} ${told.at} ${told.epoch}`;
    if (kept(session, "forky-again") === wanted) { say("The presenter is at a step that is not in this page.", 6); return; }
    kept(session, "forky-again", wanted);
    location.reload();
  },
  look() {
    if (!this.watching || this.free) return;
    this.free = true;
    say("You look around on your own. Enter follows again.", 5);
  },
  join() {
    if (!this.watching || !this.free || !this.stream || this.stream.readyState === EventSource.CLOSED) return;
    this.free = false;
    if (this.target) goTo(this.target, true);
    say("You follow again.");
  },
};

const act = {
  next: () => { stage.look(); next(); },
  back: () => { stage.look(); back(); },
  first: () => { stage.look(); show(0); },
  last: () => { stage.look(); show(steps.length - 1); },
  read: () => { if (!scroll(1)) act.next(); },
  reread: () => { if (!scroll(-1)) act.back(); },
  down: () => { stage.look(); if (!turn(1)) scroll(0.4); },
  up: () => { stage.look(); if (!turn(-1)) scroll(-0.4); },
  map: () => open("map"),
  help: () => open("help"),
  notes,
  theme: () => say(nextTheme(), 1.6),
  pointer: () => root.classList.toggle("pointing"),
  dark: () => root.classList.toggle("dark-screen"),
  full: fullScreen,
  follow: () => stage.begin(),
  questions: () => { if (!by("asked").hidden) open("questions"); },
  vote: () => { open("ballot"); if (by("ballot").classList.contains("open")) stage.ballot(); },
  ask: () => { open("asking"); by("asking-text").focus(); },
  send: () => stage.ask(),
  join: () => stage.join(),
  end: () => stage.end(),
  copy: async () => {
    by("followers-link").select();
    try { await navigator.clipboard.writeText(by("followers-link").value); say("Copied."); } catch { say("Press Ctrl+C to copy it."); }
  },
  leave: () => {
    if (root.classList.contains("dark-screen")) { root.classList.remove("dark-screen"); return; }
    if (shut()) return;
    if (document.fullscreenElement) { document.exitFullscreen(); return; }
    leave(served?.back || "");
  },
};
const KEYS = {
  ArrowRight: "next", ArrowLeft: "back", PageDown: "read", PageUp: "reread", Home: "first", End: "last", ArrowDown: "down",
  ArrowUp: "up", s: "down", m: "map", n: "notes", l: "pointer", t: "theme", f: "full", v: "follow", q: "questions", b: "dark", ".": "dark",
  "?": "help", h: "help", Escape: "leave", Enter: "join",
};
window.addEventListener("keydown", (event) => {
  if (modified(event) || (inField(event) && event.key !== "Escape")) return;
  const onControl = event.target.closest?.("button, a, summary") && (event.key === " " || event.key === "Enter");
  const name = event.key === " " ? (event.shiftKey ? "reread" : "read") : KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!name || onControl) return;
  event.preventDefault();
  if (speaker && ["notes", "map", "follow", "questions", "full", "pointer"].includes(name)) return;
  if (root.classList.contains("dark-screen") && name !== "dark" && name !== "leave") root.classList.remove("dark-screen");
  act[name]();
  speaker?.draw();
});
document.addEventListener("click", (event) => {
  const name = event.target.closest?.("[data-act]")?.dataset.act;
  if (name) { event.preventDefault(); act[name](); event.target.blur(); }
});

// A finger: sideways steps, up and down scrolls. A tap shows the controls.
let touched = null;
deck.addEventListener("touchstart", (event) => {
  touched = event.touches.length === 1 ? [event.touches[0].clientX, event.touches[0].clientY, event.target] : null;
}, { passive: true });
deck.addEventListener("touchend", (event) => {
  if (!touched) return;
  const [x, y, from] = touched, dx = event.changedTouches[0].clientX - x, dy = event.changedTouches[0].clientY - y;
  touched = null;
  const wide = from.closest("pre, .wide");
  if (wide && wide.scrollWidth > wide.clientWidth) return;
  if (Math.abs(dx) > 50 && Math.abs(dx) > 1.8 * Math.abs(dy)) act[dx < 0 ? "next" : "back"]();
}, { passive: true });

let sleep = 0;
const wake = () => {
  document.body.classList.add("awake");
  document.body.classList.remove("asleep");
  clearTimeout(sleep);
  sleep = setTimeout(() => { document.body.classList.remove("awake"); document.body.classList.add("asleep"); }, 2500);
};
window.addEventListener("pointermove", (event) => {
  if (event.pointerType === "mouse") wake();
  by("pointer").style.transform = `translate(${event.clientX}px, ${event.clientY}px)`;
});
window.addEventListener("pointerdown", wake);
window.addEventListener("resize", fit);
window.addEventListener("hashchange", () => goTo(decodeURIComponent(location.hash.slice(1)), true));

// Where it begins: where the address says, else where one was before a reload, else the title.
if (!goTo(decodeURIComponent(location.hash.slice(1)) || served?.at || "", true)) show(0, null, true);
if (speaker) { wire.send({ ask: true }); speaker.draw(); }
if (served?.font) new FontFace("Source Sans", `url(${served.font})`, { weight: "200 900" }).load().then((font) => { document.fonts.add(font); fit(); }).catch(() => {});
if (stage.watching) {
  const address = new URL(served.follow, location.href);
  stage.listen(address);
  by("asking-text").maxLength = served.longest;
  // A phone that was asleep may hold a stream that is dead without knowing it.
  document.addEventListener("visibilitychange", () => { if (!document.hidden && !stage.ended) stage.listen(address); });
}
else if (served && !speaker) {
  const before = JSON.parse(kept(session, `forky-stage-${served.conversation}`) || "null");
  if (before) {
    Object.assign(stage, before);
    by("followers-link").value = new URL(`../s/${stage.id}`, location.href).href;
    stage.listen(new URL(`follow/${stage.id}?after=1`, location.href));
    stage.tell();
  } else if (asked.has("demo")) {
    stage.begin();
    asked.delete("demo"); // A reload does not begin again what was ended.
    history.replaceState(history.state, "", `${location.pathname}?${asked}${location.hash}`);
  }
}
