"""A conversation at a prompt: each line is a message, or a command that begins with a slash."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from forky_core.cli.log import print_graph
from forky_core.cli.plain import one_line, plain
from forky_core.cli.streaming import stream
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.session import short
from forky_core.model import Operation
from forky_core.model.errors import BadName, ForkyError, ModelError, NothingToDo

if TYPE_CHECKING:
    from forky_core.forky import Forky
    from forky_core.merge.plan import MergePlan

HELP = """\
/fork [NAME [ID]]  a new branch at the last message, or at another one
/branches          list the branches
/checkout NAME     go to a branch
/merge NAME        preview a squash of a branch; /land writes it
/undo  /redo       take the last step back, or bring it back
/model [NAME]      let another model answer on this branch (none: list them)
/log               draw the conversation
/quit              leave; everything is kept"""


class ChatSession:
    """A session of `forky chat`, which reads lines until /quit or the end of the input."""

    def __init__(self, forky: Forky, chat: Conversation, model: str | None, out: TextIO) -> None:
        self.forky = forky
        self.chat = chat
        self.model = model
        """The model that answers in this session instead of the branch's own."""
        self.out = out
        self.plan: MergePlan | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: self._say(HELP),
            "/fork": self._fork,
            "/branches": self._branches,
            "/checkout": self._checkout,
            "/merge": self._merge,
            "/land": self._land,
            "/undo": lambda _: self._travel(self.chat.undo),
            "/redo": lambda _: self._travel(self.chat.redo),
            "/model": self._model,
            "/log": lambda _: print_graph(self.chat, self.out),
        }

    def run(self) -> int:
        """Run the session; return 0, or 1 if the input came from a pipe and something in it failed."""
        is_piped = not sys.stdin.isatty()
        failed = False
        if not is_piped:
            self._say("Type a message, or /help. Everything is kept as you go; Ctrl+D leaves.")
        while (line := self._line(prompt=not is_piped)) is not None and line not in ("/quit", "/exit"):
            try:
                self.handle(line)
            except ModelError as error:
                failed = True
                self._say(f"No whole answer: {error}")
            except ForkyError as error:
                failed = True
                self._say(str(error))
            except KeyboardInterrupt:
                if is_piped:
                    raise
                self._say("Stopped; what had arrived is kept.")
        return int(is_piped and failed)

    def _line(self, *, prompt: bool) -> str | None:
        """Read the next line; return None at the end of the input."""
        try:
            if prompt:
                return input(f"{one_line(self.chat.branch_name)}> ").strip()
            line = sys.stdin.readline()
        except EOFError:
            return None
        except KeyboardInterrupt:
            if not prompt:
                raise
            print(file=self.out)
            return ""
        return line.strip() if line else None

    def handle(self, line: str) -> None:
        """Carry out one line."""
        word, _, rest = line.partition(" ")
        if not word:
            return
        if not word.startswith("/"):
            stream(self.chat, line, self.model, self.out)
        elif word in self._commands:
            self._commands[word](rest.strip())
        else:
            raise NothingToDo(f"There is no {one_line(word)[:40]}.", "/help lists what there is.")

    def _say(self, text: str) -> None:
        print(plain(text), file=self.out)

    def _fork(self, rest: str) -> None:
        name, _, at = rest.partition(" ")
        self.chat = self.chat.fork(name or None, at=at.strip() or None)
        self._say(f"On “{self.chat.branch_name}” now.")

    def _branches(self, _: str) -> None:
        for branch in self.chat.branches.values():
            here = "*" if branch.name == self.chat.branch_name else " "
            self._say(f"{here} {branch.name}  {short(branch.head) if branch.head else '(empty)'}")

    def _checkout(self, name: str) -> None:
        self.chat = self.chat.checkout(_named(name))
        self._say(f"On “{self.chat.branch_name}” now.")

    def _merge(self, name: str) -> None:
        self.plan = self.chat.plan_merge(_named(name))
        if not self.plan.lands:
            self.plan = None
            raise NothingToDo(f"“{self.chat.branch_name}” has all of “{name}” already.")
        if self.plan.fast_forward is not None:
            self._say(f"“{name}” continues this branch, so that the pointer only moves. /land does it.")
        else:
            self._say(f"{self.plan.payload}\n\n{self.plan.tokens} tokens. /land writes it.")

    def _land(self, _: str) -> None:
        if self.plan is None:
            raise NothingToDo("There is no merge to land.", "/merge NAME previews one.")
        plan, self.plan = self.plan, None
        self._say(self.chat.checkout(plan.target_name).merge(plan).summary)

    def _travel(self, verb: Callable[[], Operation]) -> None:
        """Undo or redo; if that removes the checked-out branch, check out another one."""
        self._say(verb().summary)
        if self.chat.branch_name not in self.chat.branches:
            self.chat = self.forky.conversation(self.chat.id)
            self._say(f"On “{self.chat.branch_name}” now.")

    def _model(self, name: str) -> None:
        if not name:
            for info in self.forky.models.models():
                self._say(f"{info.name}  ({info.provider})")
            return
        self.forky.models.model(name)
        self.model = None
        self._say(self.chat.rules.set(model=name).summary)


def _named(name: str) -> str:
    if not name:
        raise BadName("Which branch?", "/branches lists them.")
    return name
