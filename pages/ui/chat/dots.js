// People as small discs with their initials: beside the title, at messages, in the graph and in its list.

const COLORS = ["#1f6f63", "#8a4b9c", "#a3541c", "#2f6aa8", "#a83c5b", "#5b6a1b"];
const colorOf = (person) => COLORS[[...person].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % COLORS.length];
const initials = (name) => name.split(/\s+/).map((word) => [...word][0]).slice(0, 2).join("").toUpperCase();

// Calls `draw` with who else is here, now and whenever that changes; returns what ends it.
function followPeople(draw) {
  const heard = (event) => draw(event.detail);
  window.addEventListener("forky-here", heard);
  draw(window.__forkyHere ?? []);
  return () => window.removeEventListener("forky-here", heard);
}
