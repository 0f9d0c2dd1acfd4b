"""No quotation is taken out of a sentence that denies it."""

from __future__ import annotations

import pytest

from forky_core.merge.polarity import stance, with_its_denial
from forky_core.welcome import make_welcome
from tests.builders import workspace

DENIED = (
    "Do *not* use `--inplace` with it: a half-written file would look like a good one.",
    "Never pass --inplace.",
    "You should **never** pass `--inplace`.",
    "Do __not__ use --inplace.",
    "Do NOT use --inplace!",
    "Don't use --inplace.",
    "Don’t use --inplace.",
    "dont use --inplace",
    "It doesn't need --inplace.",
    "Use --stdout instead of --inplace.",
    "Use --stdout rather than --inplace.",
    "Avoid --inplace.",
    "We no longer use --inplace.",
    "--inplace is wrong here.",
    "--inplace is broken.",
    "--inplace is deprecated since 3.2.",
    "There is no --inplace.",
    "It works without --inplace.",
    "~~--inplace~~",
    "❌ --inplace",
    "We removed --inplace.",
    "Leave --inplace out.",
    "Bitte --inplace nicht verwenden.",
    "Verwende kein --inplace.",
    "Nimm --stdout statt --inplace.",
    "--inplace ist veraltet.",
    "--inplace vermeiden!",
    "N'utilisez pas --inplace.",
    "N’utilisez jamais --inplace.",
    "Utilisez --stdout au lieu de --inplace.",
    "Il faut éviter --inplace.",
    "--inplace est obsolète.",
    "No uses --inplace.",
    "Nunca uses --inplace.",
    "Usa --stdout en lugar de --inplace.",
    "Evita --inplace.",
    "不要使用 --inplace。",
    "请勿使用 --inplace。",
    "用 --stdout 代替 --inplace。",
    "--inplace 已弃用。",
    "避免使用 --inplace。",
    "Non usare --inplace.",
    "Não use --inplace.",
    "--inplace は使わないでください。",
    "--inplace 쓰지 마세요.",
)
OPEN = (
    "Should we use --inplace?",
    "What about --inplace",
    "Maybe --inplace helps.",
    "--inplace would be faster.",
    "If --inplace were set, the file is lost.",
    "I doubt that --inplace helps.",
    "Könnte --inplace helfen.",
    "Vielleicht hilft --inplace.",
    "Si on prend --inplace, c'est plus rapide.",
    "Peut-être --inplace.",
    "Quizás --inplace.",
    "要用 --inplace 吗？",
    "如果用 --inplace 会更快。",
)
STATED = (
    "Use --inplace.",
    "We run rsync with `--inplace` and --no-compress.",
    "`--inplace` speeds it up.",
    "Nimm --inplace.",
    "Utilisez --inplace.",
    "Usa --inplace.",
    "使用 --inplace。",
    "The non-blocking mode is --inplace.",
    "Set it in not_found.py with --inplace.",
    "It takes options, including but not limited to --inplace.",
)


@pytest.mark.parametrize("sentence", DENIED)
def test_a_sentence_that_denies_is_known(sentence: str) -> None:
    assert stance(sentence) == "denied"


@pytest.mark.parametrize("sentence", OPEN)
def test_a_sentence_that_supposes_doubts_or_asks_is_known(sentence: str) -> None:
    assert stance(sentence) == "open"


@pytest.mark.parametrize("sentence", STATED)
def test_a_plain_sentence_states_its_names(sentence: str) -> None:
    assert stance(sentence) == "stated"


@pytest.mark.parametrize(
    "text",
    [
        "Do not use:\n\n- `--inplace`\n- `--force`",
        "Avoid these:\n1. --inplace",
        "## Not to be used\n- --inplace",
        "Never run this:\n\n```sh\nrsync --inplace a b\n```",
        "```sh\n# do not use --inplace\n```",
        "Do not\nuse --inplace\nwith it.",
        "`--inplace` is what eats the memory. Leave it out.",
        "There is --inplace. Don't use it.",
        "> Do not use\n> --inplace",
        "| option | |\n|---|---|\n| --inplace | never |",
    ],
)
def test_a_denial_is_found_where_it_stands(text: str) -> None:
    assert with_its_denial("--inplace", text) != "--inplace"


@pytest.mark.parametrize(
    "text",
    [
        "Do not use --force.\n\n- --inplace",
        "Do not stop. Use --inplace.",
        "```py\nif not done: run('--inplace')\n```",
        "Do not use:\n- --force\n\nThe other is --inplace.",
    ],
)
def test_a_denial_ends_where_its_sentence_does(text: str) -> None:
    assert with_its_denial("--inplace", text) == "--inplace"


def test_a_quotation_out_of_a_denial_comes_as_the_whole_sentence_or_not() -> None:
    text = "First. Do not use `--inplace` with it. Last."
    assert with_its_denial("--inplace", text) == "Do not use `--inplace` with it."
    assert with_its_denial("not use `--inplace`", text) == "not use `--inplace`"
    assert with_its_denial("First", text) == "First"
    assert with_its_denial("--inplace", f"{text} Use --inplace.") == "--inplace"
    assert with_its_denial("--inplace", "Do not\nuse --inplace.") == ""


@pytest.mark.parametrize("branch", ["upload", "compression"])
@pytest.mark.parametrize("strategy", ["squash", "three-way"])
def test_the_ready_conversation_tells_no_name_without_its_denial(branch: str, strategy: str) -> None:
    chat = make_welcome(workspace()[0])
    target = chat.fork(f"from-{branch}", at=chat.path()[3].id)
    for budget in (None, *range(40, 400, 30)):
        plan = target.plan_merge(branch, strategy=strategy, budget=budget)
        told = [line for line in plan.payload.splitlines() if "--inplace" in line]
        assert all("not use" in line for line in told), plan.payload
