// Trees (forky_core/render/trees.py) become elements, and every text in them a text. This stands before each component
// that draws some: one that says something else than before keeps the elements in which nothing changed, and with them the
// focus, what is selected and what is unfolded.

const TAGS = new Set("TAGS"), MATH = new Set("MATH"), ATTRIBUTES = new Set("ATTRIBUTES");
const LINK = /^(?:https?:\/\/|mailto:|\.\/|#fk-)/i, PLACE = /^fk-/, ALIGNED = /^text-align:(left|right|center)$/;
const DONE = 2000; // Milliseconds in which a button says that it has copied.

function give(one, name, value) {
  if (!ATTRIBUTES.has(name) || (name === "href" && !LINK.test(value)) || (name === "id" && !PLACE.test(value))) return;
  if (name === "style") one.style.textAlign = ALIGNED.exec(value)?.[1] ?? "";
  else one.setAttribute(name, value);
}

function made(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const [tag, attributes] = tree;
  const one = MATH.has(tag) ? document.createElementNS("http://www.w3.org/1998/Math/MathML", tag) : document.createElement(TAGS.has(tag) ? tag : "span");
  if (attributes) for (const name in attributes) give(one, name, attributes[name]);
  for (let at = 2; at < tree.length; at++) one.appendChild(made(tree[at]));
  if (attributes["data-diagram"]) drawDiagram(one, attributes["data-diagram"]);
  return one;
}

// Whether one element can be turned into the other: a text into a text, a tag into the same, no diagram into another.
const alike = (was, now) => (typeof was === "string" ? typeof now === "string"
  : was[0] === now[0] && (was[1] || 0)["data-diagram"] === (now[1] || 0)["data-diagram"]);

function turn(node, was, now) {
  if (was === now) return;
  if (typeof now === "string") { now.startsWith(was) ? node.appendData(now.slice(was.length)) : (node.data = now); return; }
  const before = was[1] || {}, after = now[1] || {};
  for (const name in before) if (!(name in after)) node.removeAttribute(name);
  for (const name in after) if (before[name] !== after[name]) give(node, name, after[name]);
  // A browser's translator or an extension may have changed what was drawn: then it is made anew.
  if (node.childNodes.length < was.length - 2) node.replaceChildren(...was.slice(2).map(made));
  // What is put in or taken away stands where the two differ first: what follows it is kept.
  const more = now.length - was.length;
  let from = 2;
  while (from < was.length && from < now.length && alike(was[from], now[from])) from++;
  const put = more > 0 ? now.slice(from, from + more) : [], rest = node.childNodes[from - 2] ?? null;
  for (const tree of put) node.insertBefore(made(tree), rest);
  for (let at = more; at < 0; at++) node.childNodes[from - 2].remove();
  const kept = more ? [...was.slice(0, from), ...put, ...was.slice(from - Math.min(more, 0))] : was;
  for (let at = 2; at < now.length; at++) {
    if (alike(kept[at], now[at])) turn(node.childNodes[at - 2], kept[at], now[at]);
    else node.replaceChild(made(now[at]), node.childNodes[at - 2]);
  }
}

function copy(text) {
  const old = () => {
    const field = document.createElement("textarea");
    field.value = text; document.body.append(field); field.select(); document.execCommand("copy"); field.remove();
  };
  navigator.clipboard ? navigator.clipboard.writeText(text).catch(old) : old();
}

// The buttons of code, and links to a place in the same text: one listener for the page.
window.__forkyProse ??= document.addEventListener("click", (event) => {
  const [target] = event.composedPath(), button = target.closest?.(".fk-code-head button"), link = target.closest?.('a[href^="#fk-"]');
  if (link) { event.preventDefault(); link.getRootNode().getElementById(link.getAttribute("href").slice(1))?.scrollIntoView({ block: "center" }); }
  if (!button) return;
  const box = button.closest(".fk-code");
  if (button.className === "fk-wrap-code") { box.toggleAttribute("data-wraps"); return; }
  copy(box.querySelector("code").textContent);
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, DONE);
}) ?? true;

// A diagram by the Mermaid that Streamlit ships, as a picture: in one, no link can be clicked and no script runs. What is
// drawn was cleaned by the server. One is laid out at a time, when it comes into sight; its source is one press away.
const DIAGRAM_THEME = Symbol.for("streamlit.mermaid.themeConfigKey"), MERMAID = "MERMAID";
const SECURE = ["secure", "securityLevel", "startOnLoad", "maxTextSize", "suppressErrorRendering", "maxEdges", "htmlLabels", "themeCSS", "fontFamily", "altFontFamily", "dompurifyConfig"];
const diagrams = (window.__forkyDiagrams ??= { pictures: new Map(), turn: Promise.resolve(), number: 0 });

async function pictureOf(text, look) {
  const ours = document.querySelector('script[type="module"][src*="static/js/"]');
  if (!MERMAID || !ours) throw new Error("no Mermaid");
  const loaded = await import(new URL(MERMAID, ours.src).href), mermaid = loaded.default ?? loaded.t.default;
  const color = (name) => look.getPropertyValue(name).trim(), ink = color("--st-text-color"), paper = color("--st-background-color");
  const darkMode = look.colorScheme.includes("dark"), second = color("--st-secondary-background-color");
  mermaid.initialize({ startOnLoad: false, securityLevel: "strict", secure: SECURE, suppressErrorRendering: true, htmlLabels: false, flowchart: { htmlLabels: false },
    theme: "base", darkMode, themeVariables: { darkMode, background: paper, primaryColor: second, mainBkg: second, primaryTextColor: ink, textColor: ink,
      lineColor: ink, primaryBorderColor: ink, fontSize: "14px" } });
  mermaid[DIAGRAM_THEME] = "forky"; // Streamlit's own diagrams set their look anew.
  const { svg } = await mermaid.render(`forky-diagram-${++diagrams.number}`, text);
  const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const [, , width, height] = (drawn.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
  if (width > 0 && height > 0) { drawn.setAttribute("width", width); drawn.setAttribute("height", height); }
  drawn.style.removeProperty("max-width");
  return URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(drawn)], { type: "image/svg+xml" }));
}

function drawDiagram(box, text) {
  const place = document.createElement("div"), picture = document.createElement("img");
  place.className = "fk-picture";
  place.setAttribute("aria-busy", "true");
  picture.alt = `Diagram: ${text.trim().split("\n")[0].slice(0, 60)}`;
  box.append(place);
  const show = async () => {
    const look = getComputedStyle(box), key = `${look.colorScheme} ${text}`, { pictures } = diagrams;
    try {
      if (!pictures.has(key)) pictures.set(key, (diagrams.turn = diagrams.turn.catch(() => {}).then(() => pictureOf(text, look))));
      picture.src = await pictures.get(key);
      await picture.decode();
      box.dispatchEvent(new CustomEvent("fk-draw", { bubbles: true }));
      place.replaceChildren(picture);
      place.removeAttribute("aria-busy");
    } catch {
      pictures.delete(key);
      place.remove();
      box.querySelector("details").open = true;
      box.querySelector("summary").textContent = "Source: Mermaid cannot read it";
    }
  };
  const seen = new IntersectionObserver((entries) => { if (entries.some((one) => one.isIntersecting)) { seen.disconnect(); show(); } }, { rootMargin: "300px" });
  seen.observe(box);
}
