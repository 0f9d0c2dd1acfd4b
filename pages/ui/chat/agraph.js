// streamlit-agraph's own page in a frame, spoken to as Streamlit speaks to its components: `streamlit:render` goes in,
// `streamlit:setComponentValue` comes out. The frame shares the page's thread, so it is begun when the browser has
// drawn the page around it, and told of a change when the cells beside it are on screen. A frame has none of the page's
// fonts: it is lent the one that the page is set in before it measures a word.

const FONT = "Source Sans", STEP = 20, LEAST = 200;

const painted = (then) => requestAnimationFrame(() => setTimeout(then));

function fontFile() {
  for (const sheet of document.styleSheets) {
    let rules = [];
    try { rules = sheet.cssRules; } catch { continue; }
    for (const { style } of [...rules].filter((rule) => rule instanceof CSSFontFaceRule)) {
      if (style.getPropertyValue("font-family").replace(/["']/g, "") !== FONT) continue;
      const url = /url\(["']?([^"')]+)/.exec(style.getPropertyValue("src"));
      if (url && style.getPropertyValue("font-style") !== "italic") return new URL(url[1], sheet.href ?? document.baseURI);
    }
  }
  throw new Error("The page has no such font.");
}

async function lendFont(inner) {
  const bytes = await (await fetch(fontFile(), { cache: "force-cache" })).arrayBuffer();
  inner.document.fonts.add(await new inner.FontFace(FONT, bytes, { weight: "100 900" }).load());
}

// The panel is as wide as the browser makes it, the picture as wide as the server was told: 0 where that fits.
function roomOf(panel, given) {
  const wide = panel?.clientWidth ?? 0;
  return wide < LEAST || (wide >= given.room && wide < given.room + 2 * STEP) ? 0 : Math.floor(wide / STEP) * STEP;
}

// Brings the current row into sight when it changes; never while somebody scrolls.
function show(held, panel) {
  const { id, y } = held.given;
  if (held.id === id || !panel) return;
  held.id = id;
  if (y < panel.scrollTop + 20 || y > panel.scrollTop + panel.clientHeight - 20)
    panel.scrollTop = y - panel.clientHeight / 2;
}

export default function ({ data: [given], parentElement, setTriggerValue, setStateValue }) {
  const held = (parentElement.held ??= {});
  const panel = parentElement.closest('[class*="st-key-graph-panel"]');
  held.given = given;
  if (panel) { // It scrolls, so the browser stops at it on the way by Tab.
    panel.setAttribute("role", "region");
    panel.setAttribute("aria-label", "Graph of the conversation, for the mouse; “List” is for the keyboard");
  }
  held.clicked = (id) => setTriggerValue("clicked", id);
  const draw = () => {
    if (!held.frame?.contentWindow) return;
    held.frame.contentWindow.postMessage(
      { type: "streamlit:render", args: held.given.args, theme: held.given.theme, dfs: [], disabled: false },
      location.origin,
    );
    show(held, panel);
    painted(() => { if (held.frame) held.frame.style.opacity = 1; });
  };
  if (held.frame) {
    held.frame.style.height = `${given.height}px`;
    if (held.ready) painted(draw);
    return;
  }
  const frame = (held.frame = document.createElement("iframe"));
  frame.title = "Graph of the conversation (streamlit-agraph)";
  frame.scrolling = "no";
  frame.tabIndex = -1; // A picture for the mouse; the list beside it is for the keyboard.
  frame.sandbox = "allow-scripts allow-same-origin";
  frame.style.cssText = `display: block; width: ${given.width}px; height: ${given.height}px; border: 0; color-scheme: normal; opacity: 0`; // An empty frame is white.
  const hear = ({ source, data }) => {
    if (source !== frame.contentWindow || !data?.isStreamlitMessage) return;
    if (data.type === "streamlit:componentReady") {
      held.ready = true;
      // A click leaves the keys in the frame, where no shortcut of the page hears them.
      frame.contentWindow.addEventListener("pointerup", () => setTimeout(() => { frame.blur(); window.focus(); }));
      (held.lent ??= lendFont(frame.contentWindow).catch(() => {})).then(draw);
    } else if (data.type === "streamlit:setComponentValue") held.clicked(data.value);
  };
  addEventListener("message", hear);
  let gone = false;
  const begin = () => {
    if (gone || frame.isConnected) return;
    parentElement.append(frame);
    frame.src = given.page;
  };
  const look = () => {
    const room = roomOf(panel, held.given);
    clearTimeout(held.timer);
    if (!room) { begin(); return; }
    held.timer = setTimeout(() => {
      setStateValue("room", room); // The server draws anew, in a frame of that width …
      held.timer = setTimeout(begin, 3000); // … or does not.
    }, frame.isConnected ? 200 : 0);
  };
  const watch = new ResizeObserver(look);
  painted(() => { if (panel && !gone) watch.observe(panel); else begin(); });
  return () => {
    gone = true;
    clearTimeout(held.timer);
    watch.disconnect();
    removeEventListener("message", hear);
    frame.remove();
    delete parentElement.held;
  };
}
