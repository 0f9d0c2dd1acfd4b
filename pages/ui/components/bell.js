// The browser's half of pages/ui/components/bell.py. The number comes by the connection of the page (live_updates.js) or of
// the list of conversations (sidebar.js).

class Bell {
  constructor() {
    this.heard = (event) => this.show(event.detail.unread);
    window.addEventListener("forky-inbox", this.heard);
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
    this.link.hidden = this.data.hides && !unread;
    const count = this.link.querySelector(".fk-bell-count");
    count.textContent = unread > 99 ? "99+" : String(unread);
    count.hidden = !unread;
    if (this.data.lists && unread !== this.data.unread && unread !== this.told) {
      this.told = unread;
      this.send("changed", unread);
    }
  }

  part() { window.removeEventListener("forky-inbox", this.heard); }
}

let bell = null;
export default function ({ data, parentElement, setTriggerValue }) {
  bell ??= new Bell();
  bell.take(data, parentElement, setTriggerValue);
  return () => { bell?.part(); bell = null; };
}
