// The browser's half of pages/ui/components/bell.py. The number comes by the stream that the page has open (live_updates.js);
// a page that has none opens one for it (forky_core/gateway/moving.py).

const AFTER = 1500, RETRY = 5000; // Milliseconds until a stream of its own is opened, and opened again.

class Bell {
  constructor() {
    this.heard = (event) => this.show(event.detail.unread);
    this.turned = () => (document.hidden ? this.close() : this.later(0));
    window.addEventListener("forky-inbox", this.heard);
    document.addEventListener("visibilitychange", this.turned);
    this.later(AFTER);
  }

  take(data, root, send) {
    Object.assign(this, { data, root, send });
    this.link = root.querySelector("a");
    this.link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      this.send("open", Date.now());
    };
    this.show(data.unread);
  }

  show(unread) {
    const label = unread ? `Inbox, ${unread} not read` : "Inbox";
    this.link.setAttribute("aria-label", label);
    this.link.title = label;
    const count = this.link.querySelector(".fk-bell-count");
    count.textContent = unread > 99 ? "99+" : String(unread);
    count.hidden = !unread;
    if (this.data.lists && unread !== this.data.unread && unread !== this.told) {
      this.told = unread;
      this.send("changed", unread);
    }
  }

  later(wait) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.connect(), wait);
  }

  connect() {
    if (window.__forkyMoves) { this.close(); this.later(AFTER); return; }
    if (this.source || document.hidden) return;
    this.source = new EventSource(this.data.url);
    this.source.addEventListener("inbox", (event) => this.show(JSON.parse(event.data).unread));
    this.source.addEventListener("error", () => { this.close(); this.later(RETRY); });
  }

  close() {
    this.source?.close();
    this.source = null;
  }

  part() {
    this.close();
    clearTimeout(this.waiting);
    window.removeEventListener("forky-inbox", this.heard);
    document.removeEventListener("visibilitychange", this.turned);
  }
}

let bell = null;
export default function ({ data, parentElement, setTriggerValue }) {
  bell ??= new Bell();
  bell.take(data, parentElement, setTriggerValue);
  return () => { bell?.part(); bell = null; };
}
