"""What a program needs that reads other programs' requests, or a package that adds a protocol of `/v1`.

`chat_call` and its kin read a provider's request as a `Call`, which says where it belongs in a tree: `Forky.begin`
takes it (docs/matching.md). A protocol is a `ProtocolAdapter`, which an entry point of the group `forky.protocols`
names (docs/extending.md). Its requests are read into a `ClientRequest` in OpenAI's chat form. Its answers are written
from the events of a model, which `forky_core` offers: `TextDelta`, `ReasoningDelta`, `ToolCallDone`, `Done` and
`Failed`. tests/gateway/telegraph.py is a whole one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forky_core.process.lazy_names import lazy_names

if TYPE_CHECKING:
    from forky_core.wire.errors import (
        ApiError as ApiError,
        OnlyTheirs as OnlyTheirs,
        malformed as malformed,
        only_theirs as only_theirs,
    )
    from forky_core.wire.contract import (
        ClientRequest as ClientRequest,
        EventParser as EventParser,
        Indexed as Indexed,
        ProtocolAdapter as ProtocolAdapter,
        Response as Response,
        ResponseWriter as ResponseWriter,
        flag as flag,
        one_of as one_of,
        text_field as text_field,
    )
    from forky_core.llm.contract import ModelEvent as ModelEvent, ProviderMessage as ProviderMessage
    from forky_core.matching.keys import (
        path_keys as path_keys,
        prompt_hash as prompt_hash,
        response_hash as response_hash,
    )
    from forky_core.model.errors import BadCall as BadCall
    from forky_core.wire.anthropic import anthropic_call as anthropic_call
    from forky_core.wire.call import Call as Call
    from forky_core.wire.chat import chat_call as chat_call
    from forky_core.wire.responses import responses_call as responses_call
else:
    __all__, __getattr__, __dir__ = lazy_names(globals(), __spec__)
