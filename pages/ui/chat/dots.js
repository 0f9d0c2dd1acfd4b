// People as small discs with their initials: beside the title, at messages, in the graph and in its list.

const COLORS = ["#1f6f63", "#8a4b9c", "#a3541c", "#2f6aa8", "#a83c5b", "#5b6a1b"];
const colored = (window.__forkyColored ??= new Map()); // The place in COLORS of each person this tab has drawn.

// A person's colour, that of nobody else in this tab while there are enough.
function colorOf(person) {
  if (!colored.has(person)) {
    const first = [...person].reduce((sum, letter) => sum + letter.codePointAt(0), 0), taken = new Set(colored.values());
    const free = COLORS.map((_, step) => (first + step) % COLORS.length).find((at) => !taken.has(at));
    colored.set(person, free ?? first % COLORS.length);
  }
  return COLORS[colored.get(person)];
}
const initials = (name) => name.split(/\s+/).map((word) => [...word][0]).slice(0, 2).join("").toUpperCase();

// Calls `draw` with who else is here, now and whenever that changes; returns what ends it.
function followPeople(draw) {
  const heard = (event) => draw(event.detail);
  window.addEventListener("forky-here", heard);
  draw(window.__forkyHere ?? []);
  return () => window.removeEventListener("forky-here", heard);
}
