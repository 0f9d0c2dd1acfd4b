// One line about a word of ours, where a button or a label bears it: on hover and on focus, and Escape takes it away.

const BEARS = "button, summary, [role=menuitem], [role=radio], [role=option], label, [data-testid=stWidgetLabel]";
const WAITS = 500; // Milliseconds that a pointer rests.
const BY_LENGTH = Object.keys(WORDS).sort((a, b) => b.length - a.length);
const WORD = new RegExp(`(?<![\\p{L}-])(${BY_LENGTH.join("|")})(?![\\p{L}-])`, "iu");

let tip = null, waits = 0, bearer = null;

// A button that says itself what it does is left alone.
function lineOf(one) {
  if (one.title || one.closest("[data-testid=stTooltipHoverTarget]")) return "";
  const found = WORD.exec(named(one).split(" ").slice(0, 5).join(" "));
  return found ? WORDS[found[1].toLowerCase()] : "";
}

function hush() {
  clearTimeout(waits);
  bearer?.removeAttribute("aria-describedby");
  tip?.remove();
  tip = bearer = null;
}

function explain(one) {
  const line = lineOf(one);
  if (!line || bearer === one) return;
  hush();
  bearer = one;
  tip = piece("div", "fk-word-line", line);
  tip.id = "word-line";
  tip.setAttribute("role", "tooltip");
  (document.querySelector(".stApp") ?? document.body).append(tip);
  one.setAttribute("aria-describedby", tip.id);
  const at = one.getBoundingClientRect(), size = tip.getBoundingClientRect();
  const above = at.bottom + size.height + 10 > innerHeight;
  tip.style.left = `${Math.max(6, Math.min(at.left, innerWidth - size.width - 6))}px`;
  tip.style.top = `${above ? at.top - size.height - 6 : at.bottom + 6}px`;
}

function over(event) {
  const one = event.target.closest?.(BEARS);
  if (!one) { if (!tip?.contains(event.target)) { clearTimeout(waits); waits = setTimeout(hush, 200); } return; }
  clearTimeout(waits);
  waits = setTimeout(() => explain(one), WAITS);
}

function focused(event) {
  const one = event.target.closest?.(BEARS);
  if (one?.matches(":focus-visible")) explain(one); else hush();
}

function leaves(event) { if (event.key === "Escape") hush(); }

function beginWords() {
  const ears = [["pointerover", over], ["focusin", focused], ["focusout", hush], ["pointerdown", hush], ["keydown", leaves]];
  for (const [kind, ear] of ears) document.addEventListener(kind, ear, true);
  addEventListener("scroll", hush, true);
  return () => {
    hush();
    removeEventListener("scroll", hush, true);
    for (const [kind, ear] of ears) document.removeEventListener(kind, ear, true);
  };
}
