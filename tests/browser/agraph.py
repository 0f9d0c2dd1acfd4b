"""Clicking a node of streamlit-agraph by its id: its network is found through React's own tree, then asked."""

from __future__ import annotations

import contextlib
from typing import Any

from tests.browser.conftest import PATIENCE, playwright

_FIND = """
() => {
  const root = document.querySelector('#root');
  const container = root && root._reactRootContainer;
  let fiber = container && (container._internalRoot || container).current;
  const open = fiber ? [fiber] : [];
  while (open.length) {
    const one = open.pop();
    for (let hook = one.memoizedState; hook && typeof hook === 'object'; hook = hook.next) {
      const value = hook.memoizedState;
      for (const held of [value, value && value.current])
        if (held && typeof held.canvasToDOM === 'function') return (window.forkyNetwork = held, true);
      if (!('next' in hook)) break;
    }
    const state = one.stateNode;
    if (state && state.Network && typeof state.Network.canvasToDOM === 'function')
      return (window.forkyNetwork = state.Network, true);
    if (one.sibling) open.push(one.sibling);
    if (one.child) open.push(one.child);
  }
  return false;
}
"""
_WHERE = """
(id) => {
  const network = window.forkyNetwork, at = network.getPositions([id])[id];
  if (!at) return null;
  const { clientWidth: width, clientHeight: height } = network.canvas.frame.canvas;
  const seen = (point) => point.y > 12 && point.y < height - 56 && point.x > 0 && point.x < width;
  if (!seen(network.canvasToDOM(at)))
    {
      network.moveTo({ position: { x: network.getViewPosition().x, y: at.y }, scale: network.getScale(), animation: false });
      network.body.emitter.emit("zoom", {}); // The map keeps within its ends.
    }
  return network.canvasToDOM(at);
}
"""
"""Where a node is in the frame, once it has been brought into sight."""
_FRAMES = """
(count) => new Promise((resolve) => {
  const next = () => (count-- > 0 ? requestAnimationFrame(next) : resolve());
  next();
})
"""
"""Waits for so many painted frames."""


def graph_frame(page: Any) -> Any:
    """The frame of the graph, once its picture is there."""
    for _ in range(PATIENCE // 100):
        element = page.wait_for_selector('iframe[title*="agraph"]', state="attached", timeout=PATIENCE)
        with contextlib.suppress(playwright.Error):
            frame = element.content_frame()
            if (
                frame is not None
                and element.evaluate("it => it.style.opacity") == "1"
                and frame.evaluate(_FIND)
            ):
                return frame
        page.evaluate(_FRAMES, 6)
    raise AssertionError("The graph did not appear.")


def node_at(page: Any, id: str) -> tuple[float, float]:
    """Where the dot of a message or the bar of a fold is in the frame, once it stands still there."""
    frame = graph_frame(page)
    point = stood = None
    while point is None or point != stood:
        stood, point = point, frame.evaluate(_WHERE, id)
        assert point is not None, f"no node {id}"
        page.evaluate(_FRAMES, 12)
    return point["x"], point["y"]


def click_node(page: Any, id: str, *, aside: float = 0, button: str = "left") -> None:
    """Click the dot of a message or the bar of a fold, or so many pixels beside it in its row."""
    x, y = node_at(page, id)
    graph_frame(page).locator("canvas").click(position={"x": x + aside, "y": y}, button=button)
