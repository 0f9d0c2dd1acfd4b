"""Recognises sentences of courtesy or assent, which say nothing by themselves."""

from __future__ import annotations

import re

_WORDS = """
    ok okay yes yeah yep no sure right fine good great nice perfect cool thanks thank you thx understood noted agreed done
    alright all got it will do of course sounds go on for ahead are welcome you're exactly absolutely very much so that's
    that is the a
    ja nein danke gut klar verstanden gern schön
    oui non merci d'accord bien compris
    sí gracias vale de acuerdo entendido perfecto
"""
_COURTESIES = frozenset(_WORDS.split())
_UNSPACED = re.compile("[好的谢了明白收到可以行嗯吧啊,，。!！ ]+")
_LONGEST = 8
"""The most words of a courtesy."""


def is_courtesy(text: str) -> bool:
    """Whether a sentence consists of nothing but thanks, assent and greetings."""
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", text.casefold().replace("’", "'"))
    if not re.search(r"\d", text) and (
        not words or (len(words) <= _LONGEST and _COURTESIES.issuperset(words))
    ):
        return True
    return _UNSPACED.fullmatch(text) is not None
