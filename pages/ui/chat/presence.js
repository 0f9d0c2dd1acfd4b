// The browser's half of pages/ui/chat/presence.py; the protocol is that of forky_core/gateway/presence.py. Uses dots.js.

const TYPING = 4000; // Milliseconds after the last key for which somebody is typing.
const SAID = 5000; // Milliseconds for which a new connection needs no word of where this tab is.
const tab = Math.random().toString(36).slice(2);

class Presence {
  constructor() {
    this.others = window.__forkyHere ?? [];
    this.heard = (event) => { this.others = event.detail; this.draw(); };
    this.typed = (event) => { if (event.target.matches?.("[class*=st-key-chat-ask] textarea")) this.type(); };
    this.left = () => this.say({ gone: true });
    // The server forgets who hears nothing of the conversation for a while, as a tab that was hidden.
    this.connected = () => { if (Date.now() - this.said > SAID) this.say(); };
    window.addEventListener("forky-here", this.heard);
    window.addEventListener("forky-connected", this.connected);
    document.addEventListener("input", this.typed);
    window.addEventListener("pagehide", this.left);
  }

  show(data, root, follow) {
    const moved = JSON.stringify(data) !== JSON.stringify(this.data);
    Object.assign(this, { data, root, follow });
    if (moved) this.say();
    clearInterval(this.again);
    this.again = setInterval(() => { if (!document.hidden) this.say(); }, data.every);
    this.draw();
    // The cells of a run that leads elsewhere come a moment after this.
    requestAnimationFrame(() => this.draw());
  }

  say(more = {}) {
    this.said = Date.now();
    const { url, conversation, branch, message } = this.data;
    const body = JSON.stringify({ tab, conversation, branch, message, typing: this.isTyping === true, ...more });
    fetch(url, { method: "POST", body, keepalive: true }).catch(() => {}); // The next call comes soon.
  }

  type() {
    clearTimeout(this.rest);
    this.rest = setTimeout(() => { this.isTyping = false; this.say(); }, TYPING);
    if (!this.isTyping) { this.isTyping = true; this.say(); }
  }

  draw() {
    document.querySelectorAll(".fk-here-at").forEach((one) => one.remove());
    if (!this.root?.isConnected) return;
    this.root.replaceChildren(...this.others.map((one) => {
      const button = document.createElement("button");
      const where = `on ${one.branch}${one.typing ? ", typing" : ""}`;
      button.textContent = initials(one.name);
      button.style.setProperty("--fk-person", colorOf(one.person));
      button.title = `${one.name}, ${where}. Press to go there.`;
      button.setAttribute("aria-label", button.title);
      button.toggleAttribute("data-typing", one.typing);
      button.addEventListener("click", () => this.follow({ branch: one.branch, message: one.message }));
      return button;
    }));
    for (const one of this.others) {
      const head = document.querySelector(`.fk-head[data-cell="${CSS.escape(one.message)}"] h2`);
      if (!head) continue;
      const dot = document.createElement("span");
      dot.className = "fk-here-at";
      dot.textContent = initials(one.name);
      dot.title = `${one.name} is here`;
      dot.style.setProperty("--fk-person", colorOf(one.person));
      head.append(dot);
    }
  }

  part() {
    this.say({ gone: true });
    clearInterval(this.again);
    clearTimeout(this.rest);
    window.removeEventListener("forky-here", this.heard);
    window.removeEventListener("forky-connected", this.connected);
    document.removeEventListener("input", this.typed);
    window.removeEventListener("pagehide", this.left);
    this.others = [];
    this.draw();
  }
}

let presence = null;
export default function ({ data, parentElement, setTriggerValue }) {
  presence ??= new Presence();
  presence.show(data, parentElement.querySelector(".fk-here"), (place) => setTriggerValue("follow", place));
  return () => { presence?.part(); presence = null; };
}
