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
  const at = window.forkyNetwork.getPositions();
  const key = Object.keys(at).find((one) => one === id || one.startsWith(id + '#'));
  return key ? window.forkyNetwork.canvasToDOM(at[key]) : null;
}
"""


_INSIDE = """
(frame) => {
  const panel = frame.closest('[class*="st-key-graph-panel"]');
  return panel ? [panel.scrollTop, frame.getBoundingClientRect().top] : [0, frame.getBoundingClientRect().top];
}
"""


_FRAMES = """
(count) => new Promise((resolve) => {
  const next = () => (count-- > 0 ? requestAnimationFrame(next) : resolve());
  next();
})
"""
"""Waits for so many painted frames."""


def graph_frame(page: Any) -> Any:
    """The frame of the graph, once its picture is there; it is made anew where its panel turns out to be wider."""
    for _ in range(PATIENCE // 100):
        element = page.wait_for_selector('iframe[title*="agraph"]', state="attached", timeout=PATIENCE)
        with contextlib.suppress(playwright.Error):
            frame = element.content_frame()
            if frame is not None and frame.evaluate(_FIND):
                return frame
        page.evaluate(_FRAMES, 6)
    raise AssertionError("The graph did not appear.")


def click_node(page: Any, id: str) -> None:
    """Click the dot of a message or fold, once the panel has brought the current row into sight."""
    frame = graph_frame(page)
    stood = None
    while stood != (stood := page.locator('iframe[title*="agraph"]').first.evaluate(_INSIDE)):
        page.evaluate(_FRAMES, 12)
    point = frame.evaluate(_WHERE, id)
    assert point is not None, f"no node {id}"
    frame.locator("canvas").click(position={"x": point["x"], "y": point["y"]})
