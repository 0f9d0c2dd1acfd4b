"""A stopwatch inside the browser: from what a person's hand does to the frame that shows what it was for.

It starts at the event itself (a button of the mouse let go, or Enter pressed), in whichever frame that happens, and
stops after the first painted frame in which a condition holds. So neither the driver's round trips nor its own waiting
are counted.
"""

from __future__ import annotations

from typing import Any

_START = """
for (const kind of ["pointerup", "keydown"])
  addEventListener(kind, (event) => {
    if (kind === "pointerup" || event.key === "Enter") top.__begun ??= performance.timeOrigin + performance.now();
  }, true);
"""
_ARM = """
(given) => {
  const holds = %s;
  window.__begun = null;
  window.__shown = new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("It was never shown.")), 60000);
    const look = () => {
      if (window.__begun === null || !holds(given)) { requestAnimationFrame(look); return; }
      const painted = new MessageChannel();
      painted.port1.onmessage = () => {
        clearTimeout(late);
        resolve(performance.timeOrigin + performance.now() - window.__begun);
      };
      painted.port2.postMessage(0);
    };
    requestAnimationFrame(look);
  });
  window.__shown.catch(() => {});
}
"""
_FIRST = """
if (window === top) {
  const look = () => {
    const there = document.querySelector(%r);
    if (!there?.getBoundingClientRect().height) { requestAnimationFrame(look); return; }
    const painted = new MessageChannel();
    painted.port1.onmessage = () => { window.__first = performance.timeOrigin + performance.now(); };
    painted.port2.postMessage(0);
  };
  requestAnimationFrame(look);
}
"""


def install(context: Any) -> None:
    """Have every frame of the pages of a browser context start the watch."""
    context.add_init_script(_START)


def arm(page: Any, holds: str, given: Any = None) -> None:
    """Wait for the next click or Enter, then for the JavaScript predicate `holds(given)`."""
    page.evaluate(_ARM % holds, given)


def read(page: Any) -> float:
    """Milliseconds from the event to the painted frame, once there was one."""
    return float(page.evaluate("() => window.__shown"))


def watch_first(context: Any, sign: str) -> None:
    """Have the pages of a browser context note when something that matches the CSS selector is first painted."""
    context.add_init_script(_FIRST % sign)


def read_first(page: Any) -> float:
    """That moment as time.time() counts, once it has come."""
    page.wait_for_function("() => window.__first")
    return float(page.evaluate("() => window.__first")) / 1000
