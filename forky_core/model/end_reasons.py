"""Why an answer ended: one table for the words of every provider.

A reason has a common word, which is OpenAI's, and the provider's own word where that is another. A word that the table
does not have is its own common word: it is stored, shown and exported as it arrived.
"""

from __future__ import annotations

from dataclasses import dataclass

BROKEN = "error"
"""The common word for an answer that its provider gave up."""
_WORDS = {
    "stop": """
        stop end_turn stop_sequence pause_turn complete completed eos eos_token finish_reason_unspecified
    """,
    "length": """
        length max_tokens max_output_tokens model_length model_context_window_exceeded context_window_exceeded
        context_length_exceeded compaction
    """,
    "tool_calls": "tool_calls tool_call tool_use function_call",
    "content_filter": """
        content_filter content_filtered refusal safety recitation blocklist prohibited_content spii sensitive
        guardrail_intervened error_toxic image_safety image_prohibited_content image_recitation model_armor jailbreak
    """,
    BROKEN: """
        error failed network_error insufficient_system_resource malformed_function_call malformed_response
        unexpected_tool_call too_many_tool_calls missing_thought_signature
    """,
}
_COMMON = {word: common for common, words in _WORDS.items() for word in words.split()}


@dataclass(frozen=True, slots=True)
class EndReason:
    """Why an answer ended."""

    common: str
    """stop, length, tool_calls, content_filter or error; a provider's own word if it is none of these."""
    own: str = ""
    """The provider's own word; "" if it is the common one."""

    @property
    def broken(self) -> bool:
        """Whether the provider gave up the answer, so that it is not complete."""
        return self.common == BROKEN


def end_reason(word: str, *, calls: bool = False, refused: bool = False) -> EndReason:
    """Return the reason that a provider's word stands for.

    `calls`: the answer has tool calls, which some providers' words do not say. `refused`: the provider marked the text
    as a refusal, or refused the question, which some words do not say.
    """
    common = _COMMON.get(word.lower(), word)
    if common in {"stop", "tool_calls"}:
        if refused:
            return EndReason("content_filter", "refusal")
        common = "tool_calls" if calls else "stop"
    elif refused and common not in _WORDS:
        common = "content_filter"
    return EndReason(common, "" if word.lower() == common.lower() else word)


def said_word(value: object) -> str:
    """Return the word in a provider's field for the reason; "" while the answer goes on, which some servers write."""
    return value if isinstance(value, str) and value != "null" else ""
