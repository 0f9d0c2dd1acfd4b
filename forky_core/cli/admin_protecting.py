"""`forky admin protect`: which branches of a conversation are protected, as the dialog in the app sets it.

The rules are in the file of the people, which the command and a server that runs both write; the server finds what the
command has changed at once. Only to find a conversation by its title the workspace's own file is opened.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

from forky_core.cli.opened_team import WorkspaceAddress, opened_team, place_of
from forky_core.cli.plain import one_line
from forky_core.cli.titles import conversation_called
from forky_core.forky import Forky
from forky_core.model import ConversationId
from forky_core.model.errors import Ambiguous, BadContent, NotFound, StoreBusy
from forky_core.team.branch_protection import protect_branches
from forky_core.team.members import Member
from forky_core.team.protection import MOST_APPROVALS, BranchRule, fit_pattern, rule_words
from forky_core.team.team import Team

Run = Callable[[argparse.Namespace], int]


def add_protect(action: Callable[[str, Run, str], argparse.ArgumentParser]) -> None:
    """Add the command to `forky admin`; `action` makes one of a name, its function and its help."""
    protect = action(
        "protect",
        run_protect,
        "protect branches of a conversation, so that they change only by reviewed merge requests",
    )
    protect.add_argument("workspace", metavar="WORKSPACE", help="its title or id; main is the first one")
    protect.add_argument(
        "conversation",
        metavar="CONVERSATION",
        help="the beginning of its id; while the server does not run, also its title",
    )
    protect.add_argument(
        "branch",
        nargs="?",
        metavar="BRANCH",
        help="its name, or a pattern such as 'release/*'; left out: list what is protected",
    )
    protect.add_argument(
        "--approvals",
        type=int,
        metavar="N",
        help=f"how many people have to approve a request: 0 to {MOST_APPROVALS} (default: 1)",
    )
    protect.add_argument(
        "--reviewers", nargs="+", default=(), metavar="HANDLE", help="each of them has to approve it"
    )
    protect.add_argument(
        "--bypass",
        action="store_true",
        help="whoever the conversation belongs to may change the branch directly; the audit log notes it",
    )
    protect.add_argument("--off", action="store_true", help="lift the protection")
    protect.add_argument("--json", action="store_true", help="one JSON object a line")


def run_protect(options: argparse.Namespace) -> int:
    """Protect a branch, lift its protection, or list what is protected."""
    changes = options.approvals is not None or options.reviewers or options.bypass
    if options.off and changes:
        raise BadContent("--off lifts the whole protection.", "Leave the other options out.")
    if options.branch is None and (options.off or changes):
        raise BadContent("A branch is missing.", "Name it after the conversation, such as main.")
    with opened_team(options.database) as server:
        team = server.of(server.workspaces.named(options.workspace).id)
        conversation = _conversation(
            team, options.conversation, lambda: place_of(team.workspace, options.database)
        )
        if options.branch is None:
            return _list(team, conversation, options)
        pattern = fit_pattern(options.branch)
        if options.off:
            team.protections.lift(conversation, pattern, by="")
            _say(options, conversation, pattern, None, team, f"“{pattern}” is no longer protected.")
            return 0
        rule = BranchRule(
            pattern,
            1 if options.approvals is None else options.approvals,
            tuple(_named(team, handle).id for handle in options.reviewers),
            options.bypass,
        )
        protect_branches(team, conversation, rule, by="")
        words = rule_words(rule, team.members.name_of)
        _say(options, conversation, pattern, rule, team, f"“{pattern}” is protected. {words}")
    return 0


def _list(team: Team, conversation: ConversationId, options: argparse.Namespace) -> int:
    rules = team.protections.of(conversation)
    for rule in rules:
        words = rule_words(rule, team.members.name_of)
        _say(options, conversation, rule.pattern, rule, team, f"“{rule.pattern}”: {words}")
    if not rules and not options.json:
        print("No branch of this conversation is protected.")
    return 0


def _conversation(team: Team, name: str, where: Callable[[], WorkspaceAddress]) -> ConversationId:
    """The conversation of this workspace with this id, beginning of an id, or title.

    Raises:
        NotFound: there is none.
        Ambiguous: there are several.
        StoreBusy: it can only be a title, and the server has the file open.
    """
    fitting = sorted(id for id in team.sharing.of_all() if name and id.startswith(name))
    if len(fitting) > 1:
        raise Ambiguous(f"{len(fitting)} ids begin with “{name[:40]}”.", fitting, "Give more of it.")
    if fitting:
        return fitting[0]
    place = where()
    if not place.is_there:  # A workspace that nobody has opened yet.
        raise NotFound(f"There is no conversation “{name[:40]}” in this workspace.")
    try:
        forky = Forky.open(place.database, workspace=place.workspace)
    except StoreBusy as error:
        error.hint = (
            f"No id begins with “{name[:40]}”, and titles cannot be read while the server runs. The address of the "
            "conversation has its id, after c=."
        )
        raise
    with forky:
        found = conversation_called(forky, name).id
    if not team.sharing.known(found):
        raise NotFound("Nobody is known to whom this conversation belongs.", "Start the server once.")
    return found


def _named(team: Team, handle: str) -> Member:
    """The member of the workspace with this handle. Raises NotFound if there is none."""
    member = team.members.by_handle(handle)
    if member is None or not member.role:
        raise NotFound(f"Nobody here is “{handle[:40]}”.", "`forky admin people` lists the handles.")
    return member


def _say(
    options: argparse.Namespace,
    conversation: ConversationId,
    pattern: str,
    rule: BranchRule | None,
    team: Team,
    said: str,
) -> None:
    if not options.json:
        print(one_line(said))
        return
    fields: dict[str, object] = {
        "conversation": conversation,
        "branch": pattern,
        "protected": rule is not None,
    }
    if rule is not None:
        found = (team.members.find(person) for person in rule.reviewers)
        handles = [one.handle if one is not None else None for one in found]
        fields |= {"approvals": rule.approvals, "reviewers": handles, "bypass": rule.bypass}
    print(json.dumps(fields, ensure_ascii=False))
