"""An example that runs on a fresh machine: questions about Forky to the two offline models."""

from __future__ import annotations

from forky_core.experiments.experiments import Experiments
from forky_core.forky import Forky
from forky_core.model.errors import ForkyError
from forky_core.model.experiment import Experiment, ExperimentColumn, ExperimentRow, RowCheck
from pages.ui.components.buttons import main_button
from pages.ui.experiments.state import show
from pages.ui.frame import Frame, saying
from pages.ui.session import session
from pages.ui.workspace import workspace

_QUESTIONS = (
    ("How do I fork a conversation?", "fork"),
    ("How do I merge a branch?", "merge"),
    ("How do I undo something?", "undo"),
    ("Can Forky work without a key?", "key"),
    ("How do I compare two answers?", "compare"),
    ("How do I import my chats from ChatGPT?", "import"),
)


def example(used_names: tuple[str, ...] = ()) -> Experiment:
    """Return six questions, each with a word that a right answer has, for both offline models, under a new name."""
    name, number = "example", 1
    while name in used_names:
        number += 1
        name = f"example {number}"
    return Experiment(
        name,
        [ExperimentRow(question, checks=(RowCheck("icontains", word),)) for question, word in _QUESTIONS],
        [ExperimentColumn("offline/quote"), ExperimentColumn("offline/digest")],
        [RowCheck("length", {"max": 1200, "unit": "characters"})],
        about="Which offline model answers questions about Forky?",
    )


def draw_start(frame: Frame | None) -> None:
    """Keys: `experiments.example`."""
    main_button(
        "Try the example",
        "experiments.example",
        _begin_example,
        frame,
        icon="science",
        help="Six questions about Forky to the two models that need no key. It costs nothing.",
    )


def _begin_example(frame: Frame | None) -> None:
    tab = session()
    with saying(tab):
        forky: Forky = workspace()
        chat = frame.chat if frame is not None else forky.create("Experiments")
        experiments = Experiments(chat)
        made = example(experiments.names)
        experiments.create(made)
        try:
            experiments.start(made.name)
        except ForkyError as error:
            tab.say(str(error))
        tab.conversation, tab.branch = chat.id, chat.branch_name
        show(chat, made.name)
