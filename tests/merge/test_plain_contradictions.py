"""Two answers that plainly contradict each other are shown by every strategy, and chatter is not."""

from __future__ import annotations

import pytest

from forky_core.merge.claims.plainness import needed
from forky_core.merge.plan import MergePlan
from tests.builders import workspace
from tests.merge.conversations import Talk

PLAIN = (
    ("The port is 8080.", "The port is 9090."),
    ("The launch is on 3 May.", "Launch is 10 May."),
    ("The rollout starts in May.", "The rollout starts in July."),
    ("The API will support XML.", "The API will not support XML."),
    ("The key must be rotated.", "The key must not be rotated."),
    ("A VPN is required.", "A VPN is not required."),
    ("The driver supports TLS.", "The driver does not support TLS."),
    ("Logging is on.", "Logging is off."),
    ("Caching is enabled.", "Caching is disabled."),
    ("The backups are encrypted.", "The backups are unencrypted."),
    ("Deployment is manual.", "Deployment is automatic."),
    ("Only admins can publish.", "Everyone can publish."),
    ("We use PostgreSQL for storage.", "We use MySQL for storage."),
    ("Tokens are stored in Redis.", "Tokens are stored in SQLite."),
    ("The default branch is main.", "The default branch is develop."),
    ("Anna owns the docs.", "Ben owns the docs."),
    ("The formats are CSV, JSON and XML.", "The formats are CSV, JSON and YAML."),
    ('`{"retries": 3, "wait": 1}`', '`{"retries": 5, "wait": 1}`'),
    ("There are three workers.", "There are five workers."),
    ("The trial lasts 14 days.", "The trial lasts three weeks."),
    ("The budget is $4,000.", "The budget is 5k USD."),
    ("Der Port ist 8080.", "Der Port ist 9090."),
    ("Eine Anmeldung ist erforderlich.", "Eine Anmeldung ist nicht erforderlich."),
    ("Le casque est obligatoire.", "Le casque n'est pas obligatoire."),
    ("Les élèves doivent porter un uniforme.", "Les élèves ne doivent pas porter d'uniforme."),
    ("El seguro cubre el robo.", "El seguro no cubre el robo."),
    ("端口是8080。", "端口是9090。"),
    ("系统支持离线模式。", "系统不支持离线模式。"),
    ("王芳负责测试工作。", "李强负责测试工作。"),
)
HARMLESS = (
    ("The timeout is 60 seconds.", "The timeout is 1 minute."),
    ("The port is 8080.", "The old manual says the port is 9090, which is outdated."),
    ("In production the log level is INFO.", "In development the log level is DEBUG."),
    ("The limit is 10.", "If we upgraded, the limit would be 50."),
    ("The client retries three times.", "The server retries five times."),
    ("Marta owns the frontend.", "Jorge owns the backend."),
    ("The API is fast.", "The API is documented."),
    ("Smoking is not allowed.", "Smoking is forbidden."),
    ("Monday's session starts at 9.", "Friday's session starts at 10."),
    ("The port has never moved from 8080.", "The port is 8080."),
    ("Il est interdit de fumer.", "Il n'est pas permis de fumer."),
    ('{"oven": 1, "degrees": 220}', '{"oven": 2, "degrees": 180}'),
    ("Now let me run the linter and the tests.", "Let me run the tests."),
    ("Step 3 is done.", "Step 4 is done."),
)
STRATEGIES: tuple[str, ...] = ("squash", "full", "cherry-pick", "three-way")


def answered(mine: str, theirs: str) -> Talk:
    """Two branches on which the assistant says these, and the person asks only."""
    talk = Talk()
    shared = talk.say("main", "user: Plan the server.", "assistant: All right.")
    talk.say("side", "user: And now?", f"assistant: {theirs}", at=shared.id)
    talk.say("main", "user: Go on.", f"assistant: {mine}")
    return talk


def planned(talk: Talk, strategy: str) -> MergePlan:
    picks = tuple(message.id for message in talk.path("side")[2:])
    return talk.plan(strategy, source="side", **({"picks": picks} if strategy == "cherry-pick" else {}))


def said(plan: MergePlan) -> list[dict[str, str]]:
    return [{one.name: one.claims[0].text for one in clash.claims_by_source} for clash in plan.contradictions]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_two_answers_that_contradict_each_other_are_shown(strategy: str) -> None:
    plan = planned(answered("The port is 8080.", "The port is 9090."), strategy)
    assert said(plan) == [{"main": "The port is 8080.", "side": "The port is 9090."}]


@pytest.mark.parametrize("strategy", ["squash", "full", "three-way"])
def test_an_octopus_shows_what_two_answers_contradict_each_other_in(strategy: str) -> None:
    talk = answered("The port is 8080.", "The port is 9090.")
    talk.say("side2", "user: And logs?", "assistant: They are JSON.", at=talk.path("main")[1].id)
    plan = talk.octopus(strategy, "side", "side2")
    assert said(plan) == [{"main": "The port is 8080.", "side": "The port is 9090."}]


def test_a_graft_shows_what_two_answers_contradict_each_other_in() -> None:
    forky, _ = workspace()
    here, there = forky.create("Here"), forky.create("There")
    for chat, port in ((here, 8080), (there, 9090)):
        chat.say("Which port?")
        chat.say(f"The port is {port}.", role="assistant")
    (clash,) = here.merges.plan_graft(there).contradictions
    assert [one.claims[0].value for one in clash.claims_by_source] == ["8080", "9090"]


@pytest.mark.parametrize(("mine", "theirs"), PLAIN)
def test_plain_statements_of_two_answers_are_set_against_each_other(mine: str, theirs: str) -> None:
    for one, other in ((mine, theirs), (theirs, mine)):
        plan = planned(answered(one, other), "squash")
        assert {"main": one, "side": other} in said(plan)


@pytest.mark.parametrize(("mine", "theirs"), HARMLESS)
def test_a_merge_leaves_alone_what_only_looks_alike(mine: str, theirs: str) -> None:
    for one, other in ((mine, theirs), (theirs, mine)):
        talk = answered(one, other)
        assert planned(talk, "full").contradictions == planned(talk, "three-way").contradictions == ()


def test_two_answers_to_one_question_are_compared_as_answers_to_it() -> None:
    talk = Talk()
    question = talk.say("main", "user: Plan.", "assistant: Yes.", "user: Who runs the retro?")
    talk.say("side", "assistant: Luca does.", at=question.id)
    talk.say("main", "assistant: Sofia runs it.")
    assert said(planned(talk, "full")) == [{"main": "Sofia runs it.", "side": "Luca does."}]


def chatter(talk: Talk, branch: str, number: int) -> None:
    """What a coding session says by the way: steps, code, what tools print."""
    for step in range(1, 25):
        at = number * 100 + step
        talk.say(
            branch,
            f"user: /add src/module_{at}.py",
            f"assistant: {step}. Let me update `parse_{at}` in src/module_{at}.py and run the tests.\n"
            f"```python\ndef parse_{at}(line, strict={step % 2 == 0}):\n    size = {at}\n    return line[:size]\n```\n"
            f"This change makes the parser of module {at} faster, so that it does not read a line {step} times.",
            f"tool: {at} passed in 0.{step} s; 0 failed\nsrc/module_{at}.py:{at}: note",
            f"assistant: The tests pass. Now the parser does what issue {step} asks for, without the cache.",
        )


def test_long_branches_of_a_coding_session_warn_of_nothing_but_what_is_plainly_said() -> None:
    talk = answered("Noted.", "Done.")
    chatter(talk, "main", 1)
    chatter(talk, "side", 2)
    assert planned(talk, "full").contradictions == ()
    talk.say("main", "user: Where does it listen?", "assistant: The gateway listens on port 8080.")
    talk.say("side", "user: Go on.", "assistant: The gateway listens on port 9090.")
    assert said(planned(talk, "full")) == [
        {"main": "The gateway listens on port 8080.", "side": "The gateway listens on port 9090."}
    ]


def test_the_more_there_is_to_compare_the_plainer_it_must_be_said() -> None:
    assert needed(0) == needed(1) < needed(100) < needed(1_000_000)
