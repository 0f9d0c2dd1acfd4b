"""Clicking a node of streamlit-agraph by its id: its network is found through React's own tree, then asked."""

from __future__ import annotations

from typing import Any

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


def graph_frame(page: Any) -> Any:
    """The frame of the graph, once its picture is there."""
    page.wait_for_selector('iframe[title*="agraph"]', timeout=30_000)
    for _ in range(100):
        for frame in page.frames:
            if "agraph" in frame.url and frame.evaluate(_FIND):
                return frame
        page.wait_for_timeout(100)
    raise AssertionError("The graph did not appear.")


def click_node(page: Any, id: str) -> None:
    """Click the dot of a message or fold."""
    frame = graph_frame(page)
    page.wait_for_timeout(300)  # The panel brings the current row into sight.
    point = frame.evaluate(_WHERE, id)
    assert point is not None, f"no node {id}"
    frame.locator("canvas").click(position={"x": point["x"], "y": point["y"]})
