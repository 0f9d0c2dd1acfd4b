"""The experiment of the ready conversation, run for real: `python -m tests.welcome_run` keeps its answers.

`forky_core/welcome.py` writes them into every new database; tests/test_welcome.py compares them with a run.
"""

from __future__ import annotations

import json
from typing import Any

from forky_core.experiments.experiments import Experiments
from forky_core.forky import Forky
from forky_core.welcome import ANSWERS_FILE, EXPERIMENT, make_welcome


def real_answers() -> list[dict[str, Any]]:
    """What the offline models answer in a run of a copy of the experiment that begins with nothing answered."""
    with Forky.open(":memory:") as forky:
        chat = make_welcome(forky)
        label = {info.name: info.label for info in forky.models.models()}
        experiments = Experiments(chat)
        experiments.start(EXPERIMENT, again=True).wait()
        found = []
        for cell in experiments[EXPERIMENT].cells:
            result = experiments.cell(EXPERIMENT, cell)
            call = experiments.history(EXPERIMENT, cell)[-1]
            assert result.answer is not None
            assert call.status == "done"
            found.append(
                {
                    "row": cell.row,
                    "column": cell.column,
                    "model": call.model,
                    "label": label[call.model],
                    "text": result.answer.text,
                    "prompt_tokens": call.usage.prompt_tokens,
                    "completion_tokens": call.usage.completion_tokens,
                    "started": call.started,
                    "first_token": call.first_token,
                    "finished": call.finished,
                }
            )
    return sorted(found, key=lambda one: one["finished"])


if __name__ == "__main__":
    answers = real_answers()
    ANSWERS_FILE.write_text(json.dumps(answers, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print(ANSWERS_FILE)  # noqa: T201 - what `make welcome` has written
