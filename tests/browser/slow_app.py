"""The app with a model that takes its time in place of the offline ones, so that a test can act while it writes.

It says sixty words, or what ANSWERS has for the question.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import forky_core.forky as opening
from app import MIDDLEWARE, lifespan
from forky_core.llm.contract import ReasoningDelta, Request
from forky_core.llm.scripted import Pause, ScriptedModel, Step, words
from tests.browser.apps import SHELL, STORIES

SAID = " ".join(f"word{number}" for number in range(60))
HOSTILE = "<img src=/x onerror='window.hacked=1'> <script>window.hacked=1</script> :red[red] "
DIAGRAM = "So:\n\n```mermaid\nflowchart TD\n  A --> B\n  B --> C\n```\n\nAnd on.\n\n"
FORMATTED = """\
### A heading with **bold**

Some **bold words**, *slanted* ones, `code` and a [link](https://a.example/x).
- one
- two
  - two **and** a half
    1. deeper

| A | Much longer |
|:--|---:|
| 1 | **2** |
| 3 | `4` |

```python
def double(x):
    return x ** 2  # ### | no heading
```

> quoted with \\(x^2\\)

$$
\\frac{a}{b}
- c
$$

1. First
   ```sh
   ls | wc
   ```
2. ~~Second~~

The end.
"""
"""Everything that may look raw while it is cut."""
ANSWERS: dict[str, tuple[Step, ...]] = {
    "Everything": tuple(
        step for at in range(0, len(FORMATTED), 3) for step in (FORMATTED[at : at + 3], Pause(0.02))
    ),
    "Formatted": (*words("A **bold** beginning.\n\n"), *words(SAID, 0.1)),
    "Diagram": (*words(DIAGRAM, 0.1), *words(SAID, 0.1)),
    "Formulas": (
        "So $\\frac{a}{b}$ and\n\n$$\\int_0^1 x\\,dx$$\n\nbut $\\unknown{x}$ and $5. ",
        *words(SAID, 0.01),
    ),
    "Hostile": (HOSTILE, *words(SAID, 0.05)),
    "Think": (ReasoningDelta("Let me <b>see</b>."), Pause(1.5), *words(SAID, 0.1)),
    "Forever": words(" ".join(f"word{number}" for number in range(3_000)), 0.05),
}


def answer(request: Request) -> Sequence[Step]:
    asked = str(request.messages[-1]["content"])
    return ANSWERS.get(asked, words(SAID, 0.05))


def slow_models() -> tuple[ScriptedModel, ...]:
    return (ScriptedModel("scripted/slow", answer=answer),)


vars(opening)["offline_models"] = slow_models
app = st.App(SHELL, routes=STORIES, middleware=MIDDLEWARE, lifespan=lifespan)
