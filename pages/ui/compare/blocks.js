// Blocks of answers as elements. Every text is set as text: models and people wrote it.

const TAGS = { ul: "ul", ol: "ol", li: "li", quote: "blockquote" };
const WRAPS = { strong: "strong", em: "em", strike: "s", code: "code" };
const WEB = /^(?:https?:\/\/|mailto:)/i;

function piece(kind, name, text) {
  const made = document.createElement(kind);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function icon(name) {
  const made = piece("span", "icon", name);
  made.setAttribute("aria-hidden", "true");
  return made;
}

function press(name, label, sign, act, shown = false) {
  const made = piece("button", name);
  made.type = "button";
  if (sign) made.append(icon(sign));
  if (shown) made.append(piece("span", "label", label));
  else { made.setAttribute("aria-label", label); made.title = label; }
  made.onclick = (event) => { event.stopPropagation(); act(event); };
  return made;
}

// A formula as the server has read it: of names and attributes of its own list, every text as text.
function formula([name, attributes, content]) {
  const made = document.createElementNS("http://www.w3.org/1998/Math/MathML", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  for (const one of content) made.append(typeof one === "string" ? document.createTextNode(one) : formula(one));
  return made;
}

// What a mark means, on hover; a screen reader reads it before the words (surface.css).
const MEANS = { only: "Only this one says it", other: "The pinned one does not say it", clash: "Another one says otherwise", gone: "The pinned one says this" };

// Text with its styles, from the innermost: what is marked is a mark, what is missing here is deleted text.
function run([text, mark = "", styles = "", href = "", math = null]) {
  let made = document.createTextNode(text);
  if (math) { made = formula(math); made.setAttribute("aria-label", text); }
  const wrap = (kind, name) => { const outer = piece(kind, name); outer.append(made); made = outer; };
  if (mark === "gone") { wrap("del", "gone"); made.title = MEANS.gone; return made; }
  const all = styles.split(" ");
  if (all.includes("formula")) { wrap("span", math ? "formula drawn" : "formula"); made.title = text; }
  for (const style of all) if (WRAPS[style]) wrap(WRAPS[style]);
  if (WEB.test(href)) { wrap("a"); made.href = href; made.target = "_blank"; made.rel = "noopener noreferrer nofollow"; }
  if (MEANS[mark]) { wrap("mark", mark); made.title = MEANS[mark]; }
  return made;
}

function span(runs, into) {
  for (const one of runs) {
    one[0].split("\n").forEach((line, at) => {
      if (at) into.append(piece("br"));
      if (line) into.append(run([line, ...one.slice(1)]));
    });
  }
  return into;
}

// A block that one alone says from its first word to its last is marked at its side, and its words are left in peace.
function aloneIn(block) {
  const marks = (block.s ?? []).flat().filter((one) => /[\p{L}\p{N}]/u.test(one[0]) && one[1] !== "gone").map((one) => one[1] ?? "");
  return marks.length > 0 && marks.every((mark) => mark === "only") ? "only" : "";
}

// A diagram by the Mermaid that Streamlit ships, as a picture: in one, no link can be clicked and no script runs. What is
// drawn was cleaned by the server. One is laid out at a time, when it comes into sight; its source is one press away.
const DIAGRAM_THEME = Symbol.for("streamlit.mermaid.themeConfigKey");
const SECURE = ["secure", "securityLevel", "startOnLoad", "maxTextSize", "suppressErrorRendering", "maxEdges", "htmlLabels", "themeCSS", "fontFamily", "altFontFamily", "dompurifyConfig"];
const pictures = (window.__forkyDiagrams ??= new Map());
let diagramTurn = Promise.resolve(), diagramNumber = 0;

function mermaidAddress() {
  const name = window.__forkyCompareMermaid, ours = document.querySelector('script[type="module"][src*="static/js/"]');
  return name && ours ? new URL(name, ours.src).href : "";
}

async function pictureOf(text, look) {
  const address = mermaidAddress();
  if (!address) throw new Error("no Mermaid");
  const loaded = await import(address), mermaid = loaded.default ?? loaded.t.default;
  const color = (name) => look.getPropertyValue(name).trim(), ink = color("--st-text-color"), paper = color("--st-background-color");
  const dark = window.__forkyCompare?.data?.dark ?? false, second = color("--st-secondary-background-color");
  mermaid.initialize({ startOnLoad: false, securityLevel: "strict", secure: SECURE, suppressErrorRendering: true, htmlLabels: false, flowchart: { htmlLabels: false },
    theme: "base", darkMode: dark, themeVariables: { darkMode: dark, background: paper, primaryColor: second, mainBkg: second, primaryTextColor: ink, textColor: ink,
      lineColor: ink, primaryBorderColor: ink, fontSize: "14px" } });
  mermaid[DIAGRAM_THEME] = "forky compare"; // Streamlit's own diagrams set their look anew.
  const { svg } = await mermaid.render(`forky-diagram-${++diagramNumber}`, text);
  const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const [, , width, height] = (drawn.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
  if (width > 0 && height > 0) { drawn.setAttribute("width", width); drawn.setAttribute("height", height); }
  drawn.style.removeProperty("max-width");
  return URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(drawn)], { type: "image/svg+xml" }));
}

function withDiagram(source, text) {
  const box = piece("div", "diagrambox"), place = piece("div", "diagram"), folded = piece("details"), summary = piece("summary", "", "Source");
  place.setAttribute("aria-busy", "true");
  folded.append(summary, source);
  box.append(place, folded);
  const failed = () => { place.remove(); folded.open = true; summary.textContent = "Source: Mermaid cannot read it"; };
  const show = async () => {
    const key = `${window.__forkyCompare?.data?.dark} ${text}`, look = getComputedStyle(box);
    try {
      if (!pictures.has(key)) pictures.set(key, diagramTurn = diagramTurn.catch(() => {}).then(() => pictureOf(text, look)));
      const picture = piece("img");
      picture.alt = `Diagram: ${text.trim().split("\n")[0].slice(0, 60)}`;
      picture.src = await pictures.get(key);
      await picture.decode();
      const surface = window.__forkyCompare, anchor = surface?.anchor();
      place.replaceChildren(picture);
      place.removeAttribute("aria-busy");
      if (anchor) surface.hold(anchor);
    } catch { pictures.delete(key); failed(); }
  };
  const seen = new IntersectionObserver((entries) => { if (entries.some((one) => one.isIntersecting)) { seen.disconnect(); show(); } }, { rootMargin: "300px" });
  seen.observe(box);
  return box;
}

// Code of which another one says a part is a diff: what this one alone has is signed in the pinned column with −, elsewhere with +.
function codeBlock(block) {
  const box = piece("div", "codebox"), pre = piece("pre"), code = piece("code");
  const marks = block.lines.filter(([, pieces]) => pieces.some(([text]) => text.trim())).map(([mark]) => mark);
  const differs = marks.some((mark) => mark === "only" || mark === "other");
  if (differs) box.classList.add(...(marks.every((mark) => mark === "only") ? ["only"] : ["marked", "diff"]));
  for (const [mark, pieces] of block.lines) {
    const line = piece("span", `ln ${box.matches(".diff") ? mark : ""}`);
    for (const [text, color] of pieces) line.append(color ? piece("span", `t-${color}`, text) : document.createTextNode(text));
    line.append(document.createTextNode("\n"));
    code.append(line);
  }
  pre.append(code);
  const top = piece("div", "codetop");
  top.append(piece("span", "", block.lang), press("copy", "Copy the code", "content_copy", () =>
    navigator.clipboard?.writeText(block.lines.map(([, pieces]) => pieces.map(([text]) => text).join("")).join("\n"))));
  box.append(top, pre);
  return block.diagram ? withDiagram(box, block.diagram) : box;
}

function paragraph(block) {
  const made = piece("p", aloneIn(block));
  if (block.task !== undefined) {
    const box = piece("input", "task");
    Object.assign(box, { type: "checkbox", disabled: true, defaultChecked: block.task });
    box.setAttribute("aria-label", block.task ? "Done" : "To do");
    made.append(box);
  }
  return span(block.s[0], made);
}

const KINDS = {
  p: paragraph,
  h: (block) => span(block.s[0], piece(`h${block.level}`, `h${block.l} ${aloneIn(block)}`)),
  x: (block) => piece("pre", "plain", block.s[0][0][0]),
  c: codeBlock,
  "-": () => piece("hr"),
};

function row(block) {
  const made = piece("tr");
  block.s.forEach((cell, at) => {
    const mark = cell.find((one) => MEANS[one[1]])?.[1] ?? "", made_ = piece(block.head ? "th" : "td", mark);
    if (block.head) made_.scope = "col";
    if (block.al[at]) made_.style.textAlign = block.al[at];
    if (mark) made_.title = MEANS[mark];
    made.append(span(cell.map((one) => [one[0], "", ...one.slice(2)]), made_));
  });
  return made;
}

// The blocks of one message below `into`, in their lists and quotations; each has its number as data-b.
function drawBlocks(blocks, into) {
  let open = [], table = null, level = 2; // No heading is more than one level below the one before it.
  const place = () => open.at(-1)?.made ?? into;
  blocks.forEach((block, at) => {
    const inside = block.in ?? [];
    let same = 0;
    while (same < open.length && same < inside.length && open[same].id === inside[same][1]) same += 1;
    if (same < open.length || same < inside.length) table = null;
    open.length = same;
    for (const [tag, id, start] of inside.slice(same)) {
      const made = piece(TAGS[tag]);
      if (tag === "li" && place().tagName === "OL") made.value = start;
      place().append(made);
      open.push({ id, made });
    }
    let made;
    if (block.k === "r") {
      if (table?.id !== block.t) {
        const box = piece("div", "tablebox"), body = piece("table");
        box.tabIndex = 0;
        box.append(body);
        place().append(box);
        table = { id: block.t, body };
      }
      made = row(block);
      const part = block.head ? "thead" : "tbody";
      const last = table.body.lastElementChild;
      const group = last?.tagName.toLowerCase() === part ? last : table.body.appendChild(piece(part));
      group.append(made);
    } else {
      table = null;
      if (block.k === "h") level = Math.min(6, block.l + 2, level + 1);
      made = (KINDS[block.k] ?? KINDS.x)({ ...block, level });
      place().append(made);
    }
    if (made.matches(".only")) made.title = MEANS.only;
    made.classList.add("b");
    made.dataset.b = at;
  });
  return into;
}
