"""The ready conversation of the first visit: forks, three answers to compare, a merge and an experiment.

Its first click shows what Forky is. It is made once for a database; deleting it is final. What people and the assistant
say in it is written below, by hand, and goes in with the ordinary verbs. The answers of its experiment are those that
the two offline models gave when it was last run on this very conversation; they are in `welcome_experiment.json`,
because a run takes longer than a first page should. `make welcome` runs it anew, and a test compares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import new_id
from forky_core.conversation.workspace import Workspace
from forky_core.model import (
    ConversationId,
    Generation,
    GenerationId,
    MessageId,
    Operation,
    Rules,
    Usage,
    seal,
)
from forky_core.model.errors import NotFound
from forky_core.model.experiment import CellAddress, Experiment, ExperimentColumn, ExperimentRow, RowCheck
from forky_core.model.parts import Draft, TextPart
from forky_core.store.contract import Commit
from forky_core.store.memory.store import MemoryStore
from forky_core.views.sides import answer_key

ANSWERS_FILE = Path(__file__).with_name("welcome_experiment.json")
"""What the offline models answered, with the times and counts of their calls."""
EXPERIMENT = "what main knows"
FORK_POINT = 5
"""How many messages of `main` come before its last question: the tour forks below them."""
UNMERGED = "upload"
"""The branch that nothing was brought from yet."""
_DONE = "welcome"
_READY = "welcome.conversation"
"""The setting that has the id of the newest ready conversation."""

_MAIN = (
    (
        "Our nightly backup of `orders.db` (84 GB) takes 5 h 40 min and runs into the morning. "
        "It must be done by 06:00. Where do I start?"
    ),
    (
        "Find out which stage is slow before changing anything. There are three: reading the database, compressing, "
        "and uploading. Time each one alone:\n\n"
        "```sh\n"
        "time pg_dump -Fc -Z0 orders > /dev/null\n"
        "time zstd -T1 -19 sample.dump -o /dev/null\n"
        "iperf3 -c backup-host -t 30\n"
        "```\n\n"
        "The slowest of them sets the total, because they run one after the other today."
    ),
    "Dump alone: 38 min. `zstd -T1 -19` does 4.6 MB/s. iperf3 says 940 Mbit/s.",
    (
        "Then it is the compression: 84 GB at 4.6 MB/s is more than 5 of your 5 h 40 min, while "
        "the network could take the whole raw dump in 12 minutes. Two things are worth a side look: how far the level "
        "and the threads of zstd can go, and whether the upload repeats itself. I would keep this conversation for the "
        "plan and try each on a branch of its own."
    ),
)
_COMPRESSION = (
    "Which zstd level should we use? The machine has 8 cores and the dump is mostly text.",
    (
        "For text dumps level 3 with threads is the usual sweet spot. Measure on 2 GB of your own data:\n\n"
        "| command | MB/s | ratio |\n|---|---|---|\n"
        "| `zstd -T1 -19` | 4.6 | 7.1 |\n| `zstd -T8 -9` | 310 | 6.2 |\n| `zstd -T8 -3` | 870 | 5.4 |\n\n"
        "Level 9 with 8 threads keeps most of the ratio at 67 times the speed."
    ),
    "With -T8 -9 the sample took 6.6 s and the ratio is 6.2, as you said. But the server ran out of memory once.",
    (
        "`--long=31` is what eats the memory: with it every thread keeps a 2 GB window. Leave it out. "
        "`zstd -T8 -9` without it needs about 700 MB.\n\nDecision: use `zstd -T8 -9`, no `--long`."
    ),
)
_UPLOAD = (
    "The upload log shows some nights with the file sent twice. Why?",
    (
        "Without `--partial`, rsync throws away what it has when the connection drops and starts again from zero. "
        "Three things can drop it at night, in the order I would look:\n\n"
        "1. the VPN renews its keys,\n2. a firewall forgets connections that are idle,\n3. the backup host restarts.\n\n"
        "Look for the minute of the break: `grep -n 'unexpectedly closed' /var/log/backup/upload.log`. "
        "If it is the same minute every night, it is a timer, not the line."
    ),
    "Always 02:40, and the VPN renews its keys every 4 hours, counted from 22:40. The file is 13 GB by then.",
    (
        "Then it is the VPN: 22:40 + 4 h is 02:40, and `rsync` waits for a connection that is gone. Two changes:\n\n"
        "```sh\n"
        "rsync --partial --append-verify --timeout=60 orders.zst backup-host:/srv/orders/\n"
        "```\n\n"
        "- `--append-verify` continues where it stopped and checks what is there already,\n"
        "- `--timeout=60` makes it give up after a minute, so that the loop around it can try again.\n\n"
        "Do not use `--inplace` with it: a half-written file would look like a good one.\n\n"
        "Decision: `--partial --append-verify --timeout=60`, at most 5 tries."
    ),
)
_AFTER = (
    "So what is the plan for tonight?",
    (
        "Pipe the stages into each other so that they overlap, with the settings from the branch:\n\n"
        "```sh\n"
        "pg_dump -Fc -Z0 orders | zstd -T8 -9 > orders.zst\n"
        "```\n\n"
        "The dump (38 min) is now the slowest stage, so expect about 40 minutes instead of 5 h 40 min. "
        "Keep the old job for one more night, in case."
    ),
)
_OTHER_ANSWER = (
    "You could also copy the data files of a replica instead of dumping, which takes minutes. It needs a second "
    "machine, though, and a restore is all or nothing. I would compress better first."
)
_SECOND_OTHER_ANSWER = (
    "From PostgreSQL 16 on, `pg_dump -Fd -j 8 -Z zstd:9` dumps eight tables at a time and compresses each by itself, so "
    "nothing has to be piped. The largest table decides how long it takes, and what you upload is a folder with a file "
    "for each table. Try it on a copy first."
)
_SENT_TWICE = "Why was the file sent twice?"


def ensure_welcome(forky: Workspace) -> Conversation | None:
    """Make it where this database has had none and holds nothing yet; None otherwise."""
    if forky.store.setting(_DONE) is not None:
        return None
    forky.store.set_setting(_DONE, "made")
    if forky.conversations() or forky.conversations(trashed=True):
        return None
    return make_welcome(forky)


def make_welcome(forky: Workspace) -> Conversation:
    """The conversation, with `main` checked out: made in memory and written at once, not in forty transactions."""
    draft = _DraftStore()
    with Workspace(draft, forky.models, actor=forky.actor) as desk:
        made = _made(desk)
    forky.store.commit_all(draft.commits)
    forky.store.set_setting(_READY, made.id)
    return forky.conversation(made.id, made.branch.name)


def ready_id(forky: Workspace) -> ConversationId | None:
    """The id of the newest ready conversation of this database; None if it has none, or the last was made before
    Forky kept the id.
    """
    id = forky.store.setting(_READY)
    return ConversationId(id) if id else None


def open_welcome(forky: Workspace, *, unmerged: bool = False) -> Conversation:
    """The ready conversation with `main` checked out; a new one where it is gone.

    With `unmerged`, also where `main` or the branch to be merged is gone, or something of that branch has been merged:
    then there would be nothing to show.
    """
    id = ready_id(forky)
    if id is not None:
        try:
            chat = forky.conversation(id)
        except NotFound:
            pass
        else:
            fits = not chat.view.trashed and "main" in chat.branches
            if fits and (not unmerged or _is_unmerged(chat.checkout("main"))):
                return chat.checkout("main")
    return make_welcome(forky)


def ready_answers(chat: Conversation) -> tuple[str, ...]:
    """The keys of the three answers to its second question as sides of a comparison (forky_core/views/sides.py); fewer
    where branches are gone.
    """
    path = chat.path()
    if len(path) < FORK_POINT:
        return ()
    beside = chat.visible.siblings(path[3].id) if path[3].id in chat.visible.messages else ()
    return tuple(map(answer_key, beside))


def _is_unmerged(main: Conversation) -> bool:
    path = main.path()
    return (
        UNMERGED in main.branches
        and len(path) > FORK_POINT
        and all(part.source != UNMERGED for message in path for part in message.merges)
    )


def ready_experiment(main: MessageId, upload: MessageId) -> Experiment:
    """Four questions to both offline models, asked at the ends of `main` and `upload` as they are at that time.

    The last two are one question: `main` cannot know the answer before `upload` is merged.
    """
    return Experiment(
        EXPERIMENT,
        [
            _row("Which zstd settings did we decide on?", main, "zstd -T8 -9"),
            _row("How long does the dump alone take?", main, "38 min"),
            _row(_SENT_TWICE, main, "VPN", f"{_SENT_TWICE} (asked on main)"),
            _row(_SENT_TWICE, upload, "VPN", f"{_SENT_TWICE} (asked on upload)"),
        ],
        [ExperimentColumn("offline/quote"), ExperimentColumn("offline/digest")],
        about="What can be answered on main, before upload is merged into it?",
    )


def _row(question: str, at: MessageId, word: str, label: str = "") -> ExperimentRow:
    return ExperimentRow(question, at=at, checks=(RowCheck("contains", word),), label=label)


class _DraftStore(MemoryStore):
    """Keeps what was committed to it, for another store to take over."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[Commit] = []

    def commit(self, commit: Commit) -> Operation:
        operation = super().commit(commit)
        self.commits.append(commit)
        return operation


def _made(desk: Workspace) -> Conversation:
    chat = desk.create("Why is the nightly backup slow?", system="You are a careful systems engineer.")
    _talk(chat, _MAIN)
    fork_point = chat.path()[-1].id
    other = chat.fork("replica-idea", at=chat.path()[2].id)
    other.say(_OTHER_ANSWER, role="assistant")
    second = chat.fork("parallel-dump", at=chat.path()[2].id)
    second.say(_SECOND_OTHER_ANSWER, role="assistant")
    compression = chat.fork("compression", at=fork_point)
    _talk(compression, _COMPRESSION)
    upload = chat.fork(UNMERGED, at=fork_point)
    _talk(upload, _UPLOAD)
    chat.merge(chat.plan_merge(compression))
    assert chat.head is not None
    assert upload.head is not None
    _write_run(chat, ready_experiment(chat.head.id, upload.head.id))
    _talk(chat, _AFTER)
    return chat


def _write_run(chat: Conversation, experiment: Experiment) -> None:
    """Write the experiment and its kept run: the operations, messages and calls that a run of `Experiments` leaves."""
    session = chat._session
    tx = session.require_not_trashed()
    for key, value in experiment.entries().items():
        tx.set(key, value)
    size = f"{len(experiment.rows)} rows, {len(experiment.columns)} columns"
    tx.publish("experiment", f"Saved the experiment “{experiment.name}”: {size}")
    cells = f"{experiment.size} cells"
    ran = session.require_not_trashed().publish(
        "experiment", f"Ran the experiment “{experiment.name}”: {cells}"
    )
    tx = session.require_not_trashed()
    questions = {
        row.id: seal(Draft("user", (TextPart(row.question),)), _above(row)) for row in experiment.rows
    }
    tx.messages.extend(questions.values())
    models = {column.id: column.model for column in experiment.columns}
    for cell in experiment.cells:
        tx.create_branch(
            cell.branch(experiment.name), questions[cell.row].id, Rules(model=models[cell.column])
        )
    tx.publish("experiment", f"Experiment “{experiment.name}”: asked {cells}", group=ran.number)
    for answer in json.loads(ANSWERS_FILE.read_text("utf-8")):
        cell = CellAddress(answer["row"], answer["column"])
        _write_answer(chat, cell.branch(experiment.name), questions[cell.row].id, answer, ran.number)


def _above(row: ExperimentRow) -> tuple[MessageId, ...]:
    return (row.at,) if row.at is not None else ()


def _write_answer(
    chat: Conversation, branch: str, question: MessageId, answer: Mapping[str, Any], group: int
) -> None:
    tx = chat._session.require_not_trashed()
    message = seal(Draft("assistant", (TextPart(answer["text"]),)), (question,))
    tx.messages.append(message)
    tx.generations.append(
        Generation(
            GenerationId(new_id()),
            branch,
            question,
            answer["model"],
            "done",
            message.id,
            MappingProxyType({}),
            Usage(answer["prompt_tokens"], answer["completion_tokens"], cost=0.0),
            "stop",
            started=answer["started"],
            first_token=answer["first_token"],
            finished=answer["finished"],
        )
    )
    tx.move(branch, message.id)
    tx.publish("reply", f"{answer['label']} answered on “{branch}”", group=group)


def _talk(chat: Conversation, turns: tuple[str, ...]) -> None:
    for number, turn in enumerate(turns):
        chat.say(turn, role="assistant" if number % 2 else "user")
