// Takes the frame of the first paint away (first_paint.py). Uses chat/opening.js.

const frame = document.querySelector(".fk-opening"), hides = document.querySelector("#fk-hides"), first = {};
const foot = frame.querySelector("footer"), field = foot.querySelector("textarea") && new EarlyField(foot);
const later = ":is(.st-key-chat-top, .st-key-chat-ask, .st-key-chat-side) * { visibility: hidden !important } .st-key-chat-top { height: 2.7rem }"
  + " @media (max-width: 899px) { .st-key-chat-top { height: auto } } @media (max-width: 640px) { .st-key-chat-top { height: 7.85rem } }";
const since = (what, is) => is ? performance.now() - (first[what] ??= performance.now()) : -1;
// Of the frame only the field stays, if it has one, until the page's own has taken over.
const bare = (hidden) => { hides.textContent = hidden; if (field) frame.classList.add("fk-bare"); else frame.remove(); };
const look = () => {
  const app = document.querySelector("[data-testid=stApp]");
  if (!app) return;
  const head = app.querySelector("[data-cell]");
  const styled = head && getComputedStyle(head).display === "flex";
  const ran = app.dataset.testScriptState === "notRunning"
    && app.querySelector("[data-testid=stMainBlockContainer] :is(button, p, h2, [data-testid=stText])");
  const failed = app.querySelector("[data-testid=stException], [class*=st-key-page-failed]") || since("app", true) > 20000;
  if (failed || ran && !app.querySelector("[data-testid=stSkeleton]") || since("ran", ran) > 1500) {
    bare("");
    if (field && !failed && app.querySelector(".st-key-chat-composer") && !field.goesOver()) return;
    clearInterval(looking); frame.remove(); hides.remove();
  } else if (since("path", styled) > 200) bare(later);
};
const large = (rule) => rule instanceof CSSFontFaceRule && rule.style.getPropertyValue("font-family").includes("Material Symbols");
if (document.querySelector("#fk-icons")) for (const sheet of document.styleSheets)
  if (sheet.href) for (let at = sheet.cssRules.length - 1; at >= 0; at--) if (large(sheet.cssRules[at])) sheet.deleteRule(at);
const looking = setInterval(look, 50);
