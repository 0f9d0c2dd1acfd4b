// The cookie of a session is not sent along a link from another site. Asked from here it is.
const form = document.querySelector("form");
if (form.elements.next) fetch("/sign-in/session").then((answer) => {
  if (answer.status === 204) location.replace(form.elements.next.value);
});
// What was typed here and not sent (pages/ui/keeping/storage.js) is not left to whoever uses this browser next.
else form.addEventListener("submit", () => {
  for (const kept of [localStorage, sessionStorage])
    for (const key of Object.keys(kept)) if (key.startsWith("forky.kept/")) kept.removeItem(key);
});
