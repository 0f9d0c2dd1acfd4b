"""The ready conversation of the first visit: forks, a second answer and a merge, made with the ordinary verbs.

Its first click shows what Forky is. It is made once for a database; deleting it is final.
"""

from __future__ import annotations

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model import Operation
from forky_core.store.contract import Commit
from forky_core.store.memory.store import MemoryStore

_DONE = "welcome"

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


def ensure_welcome(forky: Workspace) -> Conversation | None:
    """Make it where this database has had none and holds nothing yet; None otherwise."""
    if forky.store.setting(_DONE) is not None:
        return None
    forky.store.set_setting(_DONE, "made")
    if forky.conversations() or forky.conversations(trashed=True):
        return None
    return make_welcome(forky)


def make_welcome(forky: Workspace) -> Conversation:
    """The conversation, with `main` checked out: made in memory and written at once, not in twenty transactions."""
    draft = _Draft()
    with Workspace(draft, forky.models, actor=forky.actor) as desk:
        made = _made(desk)
    forky.store.commit_all(draft.commits)
    return forky.conversation(made.id, made.branch.name)


class _Draft(MemoryStore):
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
    compression = chat.fork("compression", at=fork_point)
    _talk(compression, _COMPRESSION)
    _talk(chat.fork("upload", at=fork_point), _UPLOAD)
    chat.merge(chat.plan_merge(compression))
    _talk(chat, _AFTER)
    return chat


def _talk(chat: Conversation, turns: tuple[str, ...]) -> None:
    for number, turn in enumerate(turns):
        chat.say(turn, role="assistant" if number % 2 else "user")
