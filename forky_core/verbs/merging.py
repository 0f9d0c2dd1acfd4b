"""The verbs by which work comes back: plan, propose, review, resolve, approve and land.

A plan is named by the message that would land: its id is the hash of its whole path, so that a plan that was looked at
is the one that lands, and nothing has to be remembered between two calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from forky_core.context.convert import message_as_text
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.review_log import MOST_FINDINGS, Review, ReviewFinding
from forky_core.conversation.session import short
from forky_core.merge.conflicts.conflict import Choice, Conflict
from forky_core.merge.options import MergeOptionFields
from forky_core.model.errors import BadContent, NothingToDo, Outdated
from forky_core.model.parts import Json
from forky_core.model.payload_kinds import CHERRY_PICK
from forky_core.process.lazy_names import import_when_used
from forky_core.verbs.pages_of_results import MOST_BYTES, fitting, paged, size_of
from forky_core.verbs.parameters import param
from forky_core.verbs.reading import NEXT, opened
from forky_core.verbs.verb import RegisteredVerb, Result, VerbCaller
from forky_core.verbs.writing import KEY, OnBranch, as_seen, done

if TYPE_CHECKING:
    from forky_core.conversation.merging.landing import landed_messages
    from forky_core.merge.plan import MergePlan
    from forky_core.views.payload import payload_text
else:
    import_when_used(globals(), __spec__)

MOST_REVIEWS, MOST_PROPOSALS = 12, 30
"""Reviews and requests by one caller in a minute: a person reads them."""


@dataclass(frozen=True, kw_only=True)
class MergeChoices:
    """What a merge is planned from."""

    request: int = param("The number of a request, in place of sources.", default=0)
    sources: tuple[str, ...] = param("The branches to bring in.", default=())
    strategy: str = param(
        "How: squash, full, cherry-pick, three-way, or one that a package adds.", default=""
    )
    picks: tuple[str, ...] = param("For a cherry-pick: the messages.", default=())
    focus: str = param("For a squash: what matters.", default="", most=2_000)
    budget: int = param("For a squash: its tokens at most.", default=0)
    model: str = param("The model that writes the note; without one, it quotes lines.", default="")
    policy: Literal["ask", "mine", "theirs", "newest"] = param(
        "For a three-way merge: what becomes of a conflict without a choice.", default="ask"
    )
    choices: Mapping[str, str] | None = param(
        "What holds, by the key of a conflict: mine, theirs, both, a branch, or words of your own.",
        default=None,
    )


@dataclass(frozen=True, kw_only=True)
class PlanParams(MergeChoices):
    conversation: str = param("The conversation's id, or the beginning of it.", filled=True)
    branch: str = param("The branch that receives it.", default="", filled=True)
    next: str = param(NEXT, default="")


@dataclass(frozen=True, kw_only=True)
class LandParams(MergeChoices, OnBranch):
    plan: str = param("The plan that you have looked at, by the id that `plan` gave it.")


@dataclass(frozen=True, kw_only=True)
class ProposeParams(OnBranch):
    into: str = param("The branch that shall receive it.", place=True)
    note: str = param("What it is about, citing messages as [3f2a91ab].", default="", most=10_000)
    text: str = param(
        "What the receiving branch's model shall read; lines may cite messages. Without it, the plan's note.",
        default="",
        most=20_000,
    )
    others: tuple[str, ...] = param("Further branches, proposed together with this one.", default=())
    strategy: str = param("How it shall be merged; squash, unless you say otherwise.", default="")
    picks: tuple[str, ...] = param("For a cherry-pick: the messages.", default=())
    focus: str = param("For a squash: what matters.", default="", most=2_000)


@dataclass(frozen=True, kw_only=True)
class FindingParams:
    """One thing that a review says of a request."""

    verdict: Literal["unsupported", "missing", "contradicts"] = param(
        "unsupported: the branch does not say that; missing: it says what the note leaves out; contradicts: they cannot both hold."
    )
    quote: str = param("The words at fault, word for word.", most=1_000)
    message: str = param("The message that says them; without one, the note.", default="")
    line: str = param("The words of the note that it speaks of, word for word.", default="", most=1_000)
    why: str = param("Why, in a sentence.", default="", most=1_000)


@dataclass(frozen=True, kw_only=True)
class OnRequest:
    """Parameters of verbs that say what becomes of a request."""

    conversation: str = param("The conversation's id, or the beginning of it.", filled=True)
    request: int = param("The request's number.", place=True)
    key: str = param(KEY, filled=True)


@dataclass(frozen=True, kw_only=True)
class ReviewParams(OnRequest):
    findings: tuple[FindingParams, ...] = param(
        "What is wrong, each with a quotation. None: nothing was found.", default=(), most=MOST_FINDINGS
    )
    text: str = param("A word on the whole.", default="", most=2_000)
    model: str = param(
        "A model that reads the note beside the branch, in place of findings of yours; needs the scope “ask”.",
        default="",
        most=200,
    )


@dataclass(frozen=True, kw_only=True)
class ApproveParams(OnRequest):
    plan: str = param("The plan that you approve, by the id that `plan` gave it.")
    text: str = param("A word with it.", default="", most=2_000)


@dataclass(frozen=True, kw_only=True)
class ResolveParams(OnBranch):
    choices: Mapping[str, str] = param(
        "What holds, by the key of a conflict: mine, theirs, both, a branch, or words of your own."
    )
    request: int = param("Settle it in this open request, and not on the branch.", default=0)


def choice_of(words: str, sources: Sequence[str] = ()) -> Choice:
    """What settles a conflict: a side, one of the sources by its name, or words of one's own."""
    match words.strip():
        case "mine" | "theirs" | "both" as side:
            return Choice(side)
        case name if name in sources:
            return Choice("theirs", source=name)
        case text:
            return Choice("text", text)


def conflict_entries(conflicts: Sequence[Conflict]) -> list[dict[str, Json]]:
    """The conflicts as JSON objects."""
    return [
        {
            "key": one.about,
            "hash": one.hash,
            "possible": one.possible,
            "found_by": one.found_by,
            "says": [
                {"side": claim.side, "message": claim.message, "text": claim.text} for claim in one.says
            ],
            "result": one.result or None,
            "by": one.choice.by if one.choice is not None else None,
        }
        for one in conflicts
    ]


def note_of(plan: MergePlan) -> str:
    """What a plan would have a model read; each line of a note that cites messages has their ids."""
    blocks = [side.block for side in plan.sides or (plan,)]
    cites = plan.kind.reading == "lines"
    return "\n\n".join(payload_text(b, short) for b in blocks if b is not None) if cites else plan.payload


def plan_id(plan: MergePlan) -> str:
    """The id of a plan: the message that the target would end with."""
    if not plan.lands:
        raise NothingToDo(plan.nothing)
    return plan.fast_forward if plan.fast_forward is not None else landed_messages(plan)[-1].id


def _chosen(params: MergeChoices | ProposeParams) -> MergeOptionFields:
    """How a merge is made, as far as it was said: its strategy, what is picked and what matters."""
    chosen: MergeOptionFields = {}
    if params.strategy or params.picks:
        chosen["strategy"] = params.strategy or CHERRY_PICK.name
    if params.picks:
        chosen["picks"] = params.picks
    if params.focus:
        chosen["focus"] = params.focus
    return chosen


def _planned(caller: VerbCaller, chat: Conversation, params: MergeChoices) -> tuple[Conversation, MergePlan]:
    """The plan of a request or of sources, with the branch that receives it checked out."""
    if params.model:
        caller.require("ask")
    chosen = _chosen(params)
    if params.budget:
        chosen["budget"] = params.budget
    if params.model:
        chosen["model"] = params.model
    if params.policy != "ask":
        chosen["policy"] = params.policy
    sources: Sequence[str] = params.sources
    if params.request:
        request = chat.requests.get(params.request)
        chat, sources = chat.checkout(request.into), request.sources
    if params.choices:
        chosen["choices"] = {key: choice_of(what, sources) for key, what in params.choices.items()}
    if params.request:
        return chat, chat.requests.plan(params.request, **chosen)
    if not sources:
        raise BadContent("A merge needs a source.", "Name `sources`, or a `request`.")
    return chat, chat.plan_merge(sources, **chosen)


def plan(caller: VerbCaller, params: PlanParams) -> Result:
    chat, made = _planned(caller, opened(caller, params.conversation, params.branch), params)
    head = caller.place(chat) | {
        "head": made.target,
        "plan": plan_id(made) if made.lands else None,
        "relation": made.relation,
        "strategy": made.strategy,
        "sources": {name: at for name, at in made.expected_heads.items() if name != made.target_name},
        "tokens": made.tokens,
        "tokens_full": made.tokens_full,
    }
    return paged(head, "entries", _told(made), params.next)


def _told(made: MergePlan) -> Iterator[Result]:
    """What is to be known of a plan, then the note whole."""
    if not made.lands:
        yield {"kind": "nothing", "text": made.nothing}
    for warning in (*made.warnings, *(one.told for one in made.doubts)):
        yield {"kind": "warning", "text": warning}
    for entry in conflict_entries(made.conflicts):
        yield {"kind": "conflict"} | entry
    for one in made.omitted:
        yield {"kind": "left out", "message": short(one.message), "why": one.why}
    yield {"kind": "note", "text": note_of(made)}


def _as_looked_at(made: MergePlan, id: str, chat: Conversation) -> MergePlan:
    """The plan, if it is the one that was looked at. Raises Outdated if something else would land by now."""
    if plan_id(made) != id:
        first = next(iter(chat.history.since(chat.view.version - 1)), None)
        last = f" The last change: {chat._session.name_of(first.summary)}." if first is not None else ""
        raise Outdated(f"Something else would land by now.{last}", first, "Plan it again, and look at it.")
    return made


def land(caller: VerbCaller, params: LandParams) -> Result:
    here = opened(caller, params.conversation, params.branch)
    as_seen(here, params.head)
    chat, made = _planned(caller, here, params)
    if chat.branch_name != here.branch_name:
        raise BadContent(f"That request is for “{chat.branch_name}”.", "Name that branch and its head.")
    if params.request:
        made = chat.requests.accepting(params.request, made)
    return done(caller, chat, chat.merge(_as_looked_at(made, params.plan, chat)))


def propose(caller: VerbCaller, params: ProposeParams) -> Result:
    chat = opened(caller, params.conversation, params.branch)
    as_seen(chat, params.head)
    into = chat.checkout(params.into)
    sources = (params.branch, *params.others)
    chosen = _chosen(params)
    if params.text:
        planned = into.plan_merge(sources, **chosen)
        if planned.block is None:
            raise BadContent("This merge has no text to write.", "Leave `text` out.")
        made = into.requests.open_plan(planned.edited(params.text), note=params.note)
    else:
        made = into.requests.open(sources, note=params.note, **chosen)
    return done(caller, chat, request=made.number, into=made.into)


def review(caller: VerbCaller, params: ReviewParams) -> Result:
    chat = opened(caller, params.conversation)
    request = chat.requests.get(params.request)
    chat = chat.checkout(request.into)
    if params.model:
        return _review_by(caller, chat, params)
    note = " ".join((request.note, *request.words.values())) + (
        note_of(chat.requests.plan(request.number)) if params.findings else ""
    )
    findings = tuple(_finding(chat, note, one) for one in params.findings)
    if findings:
        operation = chat.requests.ask_for_changes(request.number, params.text, findings)
    else:
        operation = chat.requests.comment(request.number, params.text or "Reviewed: nothing was found.")
    return done(caller, chat, operation, request=request.number, findings=len(findings))


def _review_by(caller: VerbCaller, chat: Conversation, params: ReviewParams) -> Result:
    """A model's review, whose author is the model."""
    caller.require("ask")
    if params.findings or params.text:
        raise BadContent("A model writes its own review.", "Leave `findings` and `text` out, or `model`.")
    operation = chat.requests.review_by(params.request, params.model)
    found = len(_of_model(chat, params.request, params.model).findings)
    return done(caller, chat, operation, request=params.request, model=params.model, findings=found)


def _of_model(chat: Conversation, request: int, model: str) -> Review:
    return next(one for one in chat.requests.reviews(request) if (one.by, one.state) == (model, "read"))


def with_findings(caller: VerbCaller, result: Mapping[str, Json]) -> Result:
    """What `review` answers, with what a model has found, as far as it fits."""
    found, model = dict(result), result.get("model")
    if isinstance(model, str):
        chat = opened(caller, str(result["conversation"]))
        told = _of_model(chat, int(str(result["request"])), model).told(short)
        found["text"] = fitting(told, MOST_BYTES - 400 - size_of(found))
    return found


def _finding(chat: Conversation, note: str, one: FindingParams) -> ReviewFinding:
    """A finding of a review. Raises BadContent if its quotation is none."""
    source = chat.message(one.message) if one.message else None
    line = _quoted(one.line, note, "the note") if one.line.strip() else ""
    if source is None:
        quote = _quoted(one.quote, note, "the note")
        return ReviewFinding(one.verdict, quote, None, line or quote, " ".join(one.why.split()))
    quote = _quoted(one.quote, message_as_text(source), short(source.id))
    return ReviewFinding(one.verdict, quote, source.id, line, " ".join(one.why.split()))


def _quoted(words: str, text: str, where: str) -> str:
    """The words in one line. Raises BadContent if the text does not have them."""
    quote = " ".join(words.split())
    if not quote or quote not in " ".join(text.split()):
        raise BadContent(f"“{quote[:100]}” does not stand in {where}.", "Quote it word for word.")
    return quote


def approve(caller: VerbCaller, params: ApproveParams) -> Result:
    chat = opened(caller, params.conversation)
    into = chat.checkout(chat.requests.get(params.request).into)
    made = _as_looked_at(into.requests.plan(params.request), params.plan, into)
    return done(
        caller, into, into.requests.approve(params.request, made, params.text), request=params.request
    )


def resolve(caller: VerbCaller, params: ResolveParams) -> Result:
    chat = opened(caller, params.conversation, params.branch)
    as_seen(chat, params.head)
    if params.request:
        request = chat.requests.get(params.request)
        taken = {key: choice_of(what, request.sources) for key, what in params.choices.items()}
        known = {**request.options.choices, **taken}
        operation = chat.requests.change(request.number, choices=known)
        return done(caller, chat, operation, request=request.number)
    sources = tuple({name for one in chat.merges.unresolved for name in one.sources})
    made = chat.merges.plan_resolution(
        {key: choice_of(what, sources) for key, what in params.choices.items()}
    )
    return done(caller, chat, chat.merge(made))


MERGING = (
    RegisteredVerb(
        "plan",
        "See what a merge would bring: its note, tokens, conflicts. Writes nothing.",
        "read",
        PlanParams,
        plan,
    ),
    RegisteredVerb(
        "propose",
        "Ask for a branch to be merged, for others to review and land.",
        "propose",
        ProposeParams,
        propose,
        writes=True,
        a_minute=MOST_PROPOSALS,
    ),
    RegisteredVerb(
        "review",
        "Say what is wrong with a request, with quotations, or have a model say it.",
        "review",
        ReviewParams,
        review,
        writes=True,
        a_minute=MOST_REVIEWS,
        again=with_findings,
    ),
    RegisteredVerb(
        "resolve",
        "Settle conflicts that merges left open, or those of a request.",
        "land",
        ResolveParams,
        resolve,
        writes=True,
    ),
    RegisteredVerb(
        "land",
        "Land a merge or a request exactly as its plan shows it.",
        "land",
        LandParams,
        land,
        writes=True,
    ),
    RegisteredVerb(
        "approve",
        "Approve a request as its plan shows it.",
        "land",
        ApproveParams,
        approve,
        writes=True,
        is_tool=False,
    ),
)
