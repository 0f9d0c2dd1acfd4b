"""Two branches that cannot both be right are seen in five languages; pairs that only look alike are left alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.merge.claims.contradictions import ENOUGH, Contradiction, contradictions
from forky_core.model import Message, Role, seal
from forky_core.model.parts import Draft, TextPart
from tests.examples import examples

Side = tuple[str, ...]
"""What the person and the assistant say in turns, the person first."""


def line(*texts: str) -> tuple[Message, ...]:
    path: list[Message] = []
    for number, text in enumerate(texts):
        role: Role = "assistant" if number % 2 else "user"
        path.append(seal(Draft(role, (TextPart(text),)), (path[-1].id,) if path else ()))
    return tuple(path)


def between(mine: Side, theirs: Side) -> tuple[Contradiction, ...]:
    return contradictions(line(*mine), line(*theirs))


CONTRADICTING: dict[str, tuple[str, Side, Side]] = {
    "a port": ("value", ("Which port does the proxy use?", "The proxy listens on port 4100."), ("So?", "The proxy now listens on port 4200.")),
    "a value in the answer, its subject in the question": ("value", ("How many workers does the importer run?", "Four."), ("The importer is slow", "I let the importer run 6 workers now.")),
    "a date": ("date", ("When is the concert?", "The concert is on 4 June."), ("Any news of the concert?", "The concert was moved, it takes place on June 11th.")),
    "a duration": ("duration", ("The lease of a lock?", "A lock has a lease of 30 seconds."), ("Locks expire", "I raised it: a lock has a lease of 2 minutes.")),
    "money": ("value", ("The fee?", "The fee for members is 20 euros a month."), ("And?", "The board decided that the fee for members is 25 euros a month.")),
    "a choice": ("choice", ("We use Celery for the queue.", "Noted."), ("We use Dramatiq for the queue.", "All right.")),
    "an owner": ("owner", ("Nadia reviews the parser.", "I asked Nadia."), ("Who reviews the parser?", "The parser is reviewed by Tomas.")),
    "must and need not": ("polarity", ("Reviewers must sign the form.", "Noted."), ("Is the form signed?", "Reviewers don't have to sign the form.")),
    "must not and may": ("polarity", ("Logs must not leave the cluster.", "Noted."), ("The auditor asks for logs.", "Logs may leave the cluster for the audit.")),
    "on and off": ("polarity", ("Is compression on?", "Compression is enabled for the uploads."), ("Uploads fail", "I disabled compression for the uploads.")),
    "yes and no": ("polarity", ("Is the backup encrypted?", "Yes, the backup is encrypted."), ("Can anybody read the backup?", "No, the backup is not encrypted.")),
    "a list": ("list", ("Which formats?", "The importer reads CSV, JSON and XML, nothing else."), ("Formats?", "The importer reads only CSV, JSON and Parquet.")),
    "JSON": ("value", ("What is in cache.json?", '`{"ttl": 60, "size": 10}`'), ("Show cache.json", '`{"ttl": 90, "size": 10}`')),
    "code": ("value", ("The limit?", "settings.py has `RETRY_LIMIT = 3`."), ("It gives up", "I set `RETRY_LIMIT = 8` in settings.py.")),
    "a version": ("value", ("Which Django?", "The project requires Django 4.2."), ("async views", "I raised it: the project requires Django 5.1.")),
    "German, a value": ("value", ("Auf welchem Port läuft der Druckdienst?", "Der Druckdienst läuft auf Port 6310."), ("Was ist mit dem Druckdienst?", "Der Druckdienst läuft jetzt auf Port 6311.")),
    "German, a date": ("date", ("Wann beginnt der Kurs?", "Der Kurs beginnt am 3. Mai."), ("Neues vom Kurs?", "Der Kurs beginnt erst am 17. Mai.")),
    "German, negation": ("polarity", ("Ist das Dach genehmigt?", "Ja, das Dach ist genehmigt."), ("Dürfen wir ans Dach?", "Nein, das Dach ist nicht genehmigt.")),
    "French, a value": ("value", ("Combien coûte l'entrée ?", "L'entrée coûte 8 euros."), ("Et l'entrée ?", "L'entrée coûte désormais 10 euros.")),
    "French, required": ("polarity", ("Le casque ?", "Le casque est obligatoire dans l'atelier."), ("Et le casque ?", "Le casque n'est plus obligatoire dans l'atelier.")),
    "Spanish, a date": ("date", ("¿Cuándo es la boda?", "La boda es el 5 de julio."), ("¿Y la boda?", "La boda se aplaza, es el 12 de julio.")),
    "Spanish, forbidden": ("polarity", ("¿Se puede aparcar en el patio?", "Está permitido aparcar en el patio."), ("¿Y el patio?", "Está prohibido aparcar en el patio.")),
    "Chinese, a value": ("value", ("网关的端口是多少？", "网关的端口是7100。"), ("网关怎么了", "网关的端口现在是7200。")),
    "Chinese, on and off": ("polarity", ("缓存开着吗？", "搜索页缓存已经开启。"), ("搜索页太旧", "搜索页缓存已经关闭。")),
}  # fmt: skip

HARMLESS: dict[str, tuple[Side, Side]] = {
    "two services": (("Ports?", "The gateway listens on port 7001."), ("And the tracer?", "The tracer listens on port 7002.")),
    "two environments": (("The level?", "In production the log level is 3."), ("And in development?", "In development the log level is 5.")),
    "another unit": (("The timeout?", "The timeout of the client is 90 seconds."), ("The timeout?", "The timeout of the client is a minute and a half.")),
    "a number in words": (("Retries?", "The client makes three retries."), ("How often?", "The client makes 3 retries.")),
    "a date in another form": (("The lease ends?", "The lease ends on 1 April 2027."), ("When again?", "The lease ends on 01/04/2027.")),
    "one and all": (("The price of the trip?", "The trip costs 120 euros each."), ("The bill?", "The trip costs 960 euros altogether.")),
    "a range that holds": (("The version?", "`pillow==11.2.1`"), ("What is allowed for pillow?", "`pillow>=11,<13`")),
    "an outdated source": (("Baud rate?", "The baud rate is 115200."), ("The old manual says the baud rate is 9600", "That is outdated, the baud rate is 115200.")),
    "what was": (("The quota?", "The quota is 20 GB."), ("I remember less", "The quota was 5 GB until last summer. It is 20 GB today.")),
    "what might be": (("Where do we dance?", "We dance in the garden."), ("And rain?", "If it rains we would dance in the barn.")),
    "a question": (("The name?", "The tool is called Marlin."), ("Is the tool called Dolphin?", "I do not know.")),
    "agreement in other words": (("Is the disk encrypted?", "Yes, the disk is encrypted."), ("The disk?", "All of the disk is encrypted with LUKS.")),
    "JSON in another order": (("Theme?", '`{"a": "#0a6", "b": 8}`'), ("Theme?", '`{"b": 8, "a": "#00aa66"}`')),
    "changed and changed back": (("The limit?", "The upload limit is 40 MB."), ("More", "I set the upload limit to 80 MB.", "no, back", "The upload limit is 40 MB again.")),
    "German, two subjects": (("Wer macht die Kasse?", "Die Kasse macht Ulla."), ("Und wer die Getränke?", "Die Getränke bringt Hannes.")),
    "German, in words": (("Plätze?", "Der Kurs hat zwölf Plätze."), ("Plätze?", "Der Kurs hat 12 Plätze.")),
    "French, before": (("L'entrée ?", "L'entrée coûte 7 euros."), ("L'ancien dépliant dit 5 euros", "C'était avant les travaux. L'entrée coûte 7 euros.")),
    "Spanish, in minutes": (("¿Cuánto dura el examen?", "El examen dura dos horas."), ("¿Cuánto?", "El examen dura 120 minutos.")),
    "Chinese, in digits": (("预算多少？", "项目预算是八万元。"), ("预算？", "项目预算是80000元。")),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTRADICTING)
def test_a_contradiction_is_seen_with_both_sentences(case: str) -> None:
    kind, mine, theirs = CONTRADICTING[case]
    found = between(mine, theirs)
    assert kind in {one.kind for one in found}
    for one in found:
        said = {message.id: message.text for message in (*line(*mine), *line(*theirs))}
        assert one.mine.quote in said[one.mine.message]
        assert one.theirs.quote in said[one.theirs.message]
        assert one.key and one.mine.speaker in ("user", "assistant")


@pytest.mark.parametrize("case", HARMLESS)
def test_pairs_that_only_look_alike_are_left_alone(case: str) -> None:
    assert between(*HARMLESS[case]) == ()


@pytest.mark.parametrize("case", CONTRADICTING)
def test_the_sides_may_change_places(case: str) -> None:
    _, mine, theirs = CONTRADICTING[case]
    assert between(theirs, mine)


@pytest.mark.parametrize("case", [*CONTRADICTING, *HARMLESS])
def test_nobody_contradicts_their_own_words(case: str) -> None:
    for side in [*CONTRADICTING.get(case, ("", ()))[1:], *HARMLESS.get(case, ())]:
        assert between(side, side) == ()


def test_unrelated_branches_are_left_alone() -> None:
    sides = [side for _, mine, theirs in CONTRADICTING.values() for side in (mine, theirs)]
    pairs = [(one, two) for at, one in enumerate(sides) for two in sides[at + 2 - at % 2 :: 7]]
    warned = sum(bool(between(one, two)) for one, two in pairs)
    assert warned <= len(pairs) * 0.06


def test_nothing_contradicts_silence() -> None:
    assert between((), ("The port is 8080.",)) == between((), ()) == ()


_WORDS = st.sampled_from(
    [
        "the",
        "port",
        "cache",
        "is",
        "8080",
        "9090",
        "not",
        "must",
        "may",
        "on",
        "off",
        "Anna",
        "Oleg",
        "3",
        "May",
        "60",
        "seconds",
        "a",
        "minute,",
        "and;",
        "`ttl`",
        "=",
        "no",
        "yes:",
        "不",
        "端口",
        "三",
    ]
)
_TEXTS = st.lists(_WORDS, min_size=1, max_size=12).map(" ".join)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(_TEXTS, max_size=4), st.lists(_TEXTS, max_size=4))
def test_whatever_is_found_is_quoted_word_for_word(mine: list[str], theirs: list[str]) -> None:
    one, two = line(*mine), line(*theirs)
    said = {message.id: message.text for message in (*one, *two)}
    found = contradictions(one, two)
    assert all(side.quote in said[side.message] for each in found for side in (each.mine, each.theirs))
    assert ENOUGH > 0 and found == contradictions(one, two)
