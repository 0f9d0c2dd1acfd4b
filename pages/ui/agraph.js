// streamlit-agraph's own page in a frame, spoken to as Streamlit speaks to its components: `streamlit:render` goes in,
// `streamlit:setComponentValue` comes out. The frame is begun when the browser has drawn the page around it.
export default function ({ data: [given], parentElement, setTriggerValue }) {
  const held = (parentElement.held ??= {});
  held.given = given;
  held.clicked = (id) => setTriggerValue("clicked", id);
  const draw = () =>
    held.frame.contentWindow.postMessage(
      { type: "streamlit:render", args: held.given.args, theme: held.given.theme, dfs: [], disabled: false },
      location.origin,
    );
  if (held.frame) {
    held.frame.style.height = `${given.height}px`;
    if (held.ready) draw();
    return;
  }
  const frame = (held.frame = document.createElement("iframe"));
  frame.title = "Graph of the conversation (streamlit-agraph)";
  frame.scrolling = "no";
  frame.sandbox = "allow-scripts allow-same-origin";
  frame.style.cssText = `display: block; width: 100%; height: ${given.height}px; border: 0; color-scheme: normal`;
  parentElement.append(frame);
  const hear = ({ source, data }) => {
    if (source !== frame.contentWindow || !data?.isStreamlitMessage) return;
    if (data.type === "streamlit:componentReady") {
      held.ready = true;
      draw();
    } else if (data.type === "streamlit:setComponentValue") held.clicked(data.value);
  };
  addEventListener("message", hear);
  const begin = () => { frame.src = given.page; };
  const soon = requestAnimationFrame(() => setTimeout(begin));
  return () => {
    cancelAnimationFrame(soon);
    removeEventListener("message", hear);
    frame.remove();
    delete parentElement.held;
  };
}
