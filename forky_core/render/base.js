// The document reads its own elements. What a server told it stands in a block; a file has none and asks nobody.
const root = document.documentElement;
const by = (id) => document.getElementById(id);
const read = (id) => JSON.parse(by(id)?.textContent || "null");
root.classList.add("scripted");

// Light, dark or the system's: the choice is the one of the app, which keeps it under the same name.
const THEME = "forky-theme", THEMES = ["system", "light", "dark"];
const SAID = { system: "Light or dark as the system has it", light: "Light", dark: "Dark" };
let theme = "system";
const kept = (store, name, value) => {
  try { return value === undefined ? store().getItem(name) : store().setItem(name, value); } catch { return null; }
};
const local = () => localStorage, session = () => sessionStorage;
const wear = (choice) => {
  theme = THEMES.includes(choice) ? choice : "system";
  if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
};
wear(kept(local, THEME));
window.addEventListener("storage", (event) => { if (event.key === THEME) wear(event.newValue); });
const nextTheme = () => {
  wear(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]);
  kept(local, THEME, theme);
  return SAID[theme];
};
const inField = (event) => event.target.closest?.("input:not([type=range]), textarea, select, [contenteditable]");
const modified = (event) => event.ctrlKey || event.metaKey || event.altKey;
const fullScreen = () => document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen?.().catch(() => {});
// A tab that was opened for this closes, and what it was opened from is there as it was left. Else the way back is a link.
const leave = (back) => {
  window.close();
  if (back) setTimeout(() => location.assign(back), 120);
};
