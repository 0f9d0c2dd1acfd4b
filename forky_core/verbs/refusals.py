"""A refused call as a value: the same for a tool, a route and a command."""

from __future__ import annotations

from forky_core.model.errors import Ambiguous, BadCall, ForkyError, Outdated
from forky_core.verbs.verb import Result


def refusal(error: ForkyError) -> Result:
    """Why a verb was refused, as a sentence, and what to do about it.

    An Outdated names the operation that came first, an Ambiguous what would fit, a BadCall the argument at fault.
    """
    told: Result = {"kind": type(error).__name__, "message": error.message, "hint": error.hint}
    if isinstance(error, Outdated) and error.first is not None:
        first = error.first
        told["first"] = {"version": first.number, "by": first.actor, "summary": first.summary, "at": first.at}
    if isinstance(error, Ambiguous):
        told["candidates"] = list(error.candidates[:20])
    if isinstance(error, BadCall):
        told["where"] = error.where
    return {"refused": told}
