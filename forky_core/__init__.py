"""Forky: version control for conversations with language models.

What a program needs first is here. Four modules have the rest: `forky_core.experiments`, `forky_core.sharing` (reports,
links, votes, private values), `forky_core.extending` (what a package adds) and `forky_core.protocols` (what reads and
answers other programs' requests). All other modules may change without notice.

- **Conversations**: `Forky.open` opens a database, `Forky.create` makes a `Conversation`; its methods ask, fork, merge
  and undo, and the rest is behind a name for its topic, such as `chat.rules`. `Memory` says how much of a long
  conversation is sent, a `Room` with a `Person` for each who takes part.
- **Values**: a `Message` is made of parts such as `TextPart`; a `Draft` is one without a place; `Rules`, `Operation`
  and `Usage` are what the methods return.
- **Merging**: a `MergePlan` is what a merge would write, a `Choice` what is taken of a `Conflict`; `contains` is a
  check for `chat.bisections.run`.
- **Models**: `Forky.add_model` offers a model of the program: a `FunctionModel`, or anything with the methods of
  `Model`, which is given a `Request` and yields `TextDelta` and its kin.
- **Files**: `preview` and `import_file` read other programs' exports; `export_value`, `exporter`, `save_as` write them.
- **Programs**: `SimpleBot`, `ChatBot` and `QueryBot`. `ForkyLogger` records LiteLLM's calls, and
  `ForkyChatMessageHistory` is LangChain's history; each needs that package, so `from forky_core import *` leaves both
  out.
- **Errors**: every one is a `ForkyError` with a sentence for a person.

Using it changes nothing of the process it runs in. Names are loaded when they are first asked for, so that a program
which needs the values alone does not pay for the database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forky_core.process.deprecations import find_former_modules
from forky_core.process.lazy_names import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from forky_core.bots import ChatBot as ChatBot, QueryBot as QueryBot, SimpleBot as SimpleBot
    from forky_core.conversation.conversation import Conversation as Conversation
    from forky_core.conversation.merging.bisecting import contains as contains
    from forky_core.forky import Forky as Forky
    from forky_core.formats.exporting.registry import exporter as exporter
    from forky_core.formats.exporting.sharing import export_value as export_value, save_as as save_as
    from forky_core.formats.importing.landing import import_file as import_file, preview as preview
    from forky_core.integrations.langchain import ForkyChatMessageHistory as ForkyChatMessageHistory
    from forky_core.integrations.litellm import ForkyLogger as ForkyLogger
    from forky_core.llm.contract import (
        Done as Done,
        Failed as Failed,
        Model as Model,
        ModelInfo as ModelInfo,
        ReasoningDelta as ReasoningDelta,
        Request as Request,
        TextDelta as TextDelta,
        ToolCallDone as ToolCallDone,
    )
    from forky_core.llm.function_model import FunctionModel as FunctionModel
    from forky_core.merge.conflicts.conflict import Choice as Choice, Conflict as Conflict
    from forky_core.merge.plan import MergePlan as MergePlan
    from forky_core.merge.written.plan import SquashRejected as SquashRejected
    from forky_core.model import (
        Message as Message,
        MessageId as MessageId,
        Operation as Operation,
        Rules as Rules,
        Usage as Usage,
    )
    from forky_core.model.errors import (
        Ambiguous as Ambiguous,
        BadContent as BadContent,
        BadName as BadName,
        ForkyError as ForkyError,
        ImportBrokenOff as ImportBrokenOff,
        InTheWay as InTheWay,
        ModelError as ModelError,
        NameTaken as NameTaken,
        NotAllowed as NotAllowed,
        NotFound as NotFound,
        NothingToDo as NothingToDo,
        NotInstalled as NotInstalled,
        Outdated as Outdated,
        RequestError as RequestError,
        StoreBusy as StoreBusy,
        StoreDamaged as StoreDamaged,
        StoreError as StoreError,
        StoreFull as StoreFull,
        StoreTooNew as StoreTooNew,
    )
    from forky_core.model.memory import Memory as Memory
    from forky_core.model.parts import (
        AttachmentPart as AttachmentPart,
        Draft as Draft,
        MergePart as MergePart,
        ReasoningPart as ReasoningPart,
        TextPart as TextPart,
        ToolCallPart as ToolCallPart,
        ToolResultPart as ToolResultPart,
    )
    from forky_core.model.room import Person as Person, Room as Room
else:
    __all__, __getattr__, __dir__ = lazy_names(globals(), __spec__)
    find_former_modules()
