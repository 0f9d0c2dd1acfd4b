"""Finds what a question is about, in two to four words that a person would name it by.

A name such as `backup-upload-twice` tells branches apart; one made of a question's first words, `why-does-the-backup`,
does not. The rule has no model: it skips courtesy, takes the first clause that says something, and leaves out the words
that any question may have.
"""

from __future__ import annotations

import re

from forky_core.text.words import FUNCTION_CHARACTERS, STOPWORDS, WIDE, word_set

LONGEST_SUBJECT = 32
"""The most characters of a subject."""
_MOST_WORDS = 4
_READ = 600
"""How many characters of a text are read: what it is about is said at its beginning."""
_NOISE = re.compile(r"```[^`]*(?:```|$)|https?://\S+|@\w+")
_SENTENCE = re.compile(r"[^.?!。？！\n]*(?:\.(?=\w)[^.?!。？！\n]*)*[.?!。？！]?")
_CLAUSE = re.compile(r"[,;:()，；：、]|\s[–—-]\s")
_TOKEN = re.compile(rf"[{WIDE}]+|[^\W_{WIDE}]+(?:['’-][^\W_{WIDE}]+)*")
_IS_WIDE = re.compile(rf"[{WIDE}]")
_PARTICLES = re.compile(f"[{''.join(sorted(FUNCTION_CHARACTERS))}一帮幫写寫想让讓]")
_BEGINS_CLAUSE = word_set(
    """
    when where because since if unless that which who whom while until before after although so but then as
    wenn weil dass der die das welche obwohl aber quand parce si qui que mais cuando porque quien pero
    """
)
"""Words that begin a clause that only adds to what was said before."""
_JOINS = word_set("of in for without than per de du pour sans en im für ohne")
_ARTICLES = word_set(
    "the a an my our your this le la les un une el los las una der die das den dem ein eine l"
)
_EMPTY = STOPWORDS | word_set(
    """
    today time everything nothing everyone called named came says said saying able happen happens happened wondering
    sorry great nice cool wow dear morning anyway btw afterwards isn doesn don didn won ll ve re tbh
    mich mir mein meine meinen dich dir uns euch so viel mal bitte danke hallo vor am um als dann noch schon auch nur hab
    habe ist's kommt fürs welche welcher welches würde könnte macht machen gibt sich hier daß dass
    on a moi me te se sa son ses mes mon ma nos vos leur y en très plus bonjour merci peux peut-être quelle quel quels
    quelles ai as avons avez sont être avoir
    me mi mis su sus le les se lo muy más hola gracias favor qué cuál cuáles hay tengo tiene está están eso esa este esta
    nada sí igual del
    """
)
"""Words that name no subject."""
_REQUESTS = word_set(
    """
    write tell explain describe show summarize summarise find help follow look check recommend suggest share add create
    build implement generate compute calculate compare discuss continue try start run leave keep understand learn mention
    take took
    schreib schreibe erkläre erklär zeig nenne finde écris explique montre donne trouve escribe explica muestra dame
    """
)
"""Words that ask for something: they stay only where hardly anything else was said."""
_KINDS = _REQUESTS | word_set(
    """
    list code function program example examples best good better bad simple terms new proper way ways tip tips idea ideas
    step steps difference differences problem
    """
)
"""The same, and words for what sort of thing it is."""


def subject(text: str) -> str:
    """Return what a text is about as lower-case words with hyphens between them; "" if it holds no word.

    The first clause of the first question that has two words of its own decides, then that of the first sentence.
    """
    said = _NOISE.sub(" ", text[:_READ])
    sentences = [found[0] for found in _SENTENCE.finditer(said) if found[0].strip()]
    sentences.sort(key=lambda one: not one.rstrip().endswith(("?", "？")))
    told = [_words(sentence) for sentence in sentences]
    chosen = next((words for words in told if _content(words) > 1), None) or max(
        told, key=_content, default=[]
    )
    if not _content(chosen):
        return "-".join(_TOKEN.findall(said.lower())[:_MOST_WORDS])[:LONGEST_SUBJECT].strip("-")
    return _joined(chosen)


def past_courtesy(text: str) -> str:
    """Return a text from the first sentence on that asks or says something; “Hello!” and “Thanks a lot.” do not."""
    for found in _SENTENCE.finditer(text[:_READ]):
        if found[0].rstrip().endswith(("?", "？")) or _content(_words(found[0])):
            return text[found.start() :]
    return text


def _words(sentence: str) -> list[str]:
    """Return the words of as many clauses as it takes to have two of content."""
    words: list[str] = []
    for clause in _CLAUSE.split(sentence):
        for token in _TOKEN.findall(clause):
            for word in _parts(token):
                if word in _BEGINS_CLAUSE and _content(words, _KINDS) > 1:
                    return words
                words.append(word)
        if _content(words, _KINDS) > 1:
            break
    return words


def _parts(token: str) -> list[str]:
    if _IS_WIDE.match(token):
        return [piece for piece in _PARTICLES.split(token) if len(piece) > 1]
    if token.isupper() and len(token) > 1:  # “US” and “IT” are names.
        return [token]
    pieces = token.split("-")
    if len(pieces) > 1 and pieces[-1].lower() in _EMPTY:  # “Peux-tu” is two words, “off-site” is one.
        return [word for piece in pieces for word in _parts(piece)]
    word = token.lower().replace("’", "'")
    return [word if word in _EMPTY else max(word.split("'"), key=len)]


def _content(words: list[str], but: frozenset[str] = frozenset()) -> int:
    return sum(word not in _EMPTY and word not in but for word in words)


def _joined(words: list[str]) -> str:
    """Return the first words of content; a word such as “of” stays between two that it joins."""
    left_out = next((but for but in (_KINDS, _REQUESTS) if _content(words, but) > 1), frozenset[str]())
    name, count, join = "", 0, ""
    for word in words:
        if word in _EMPTY or word in left_out:
            join = word if word in _JOINS else join if word in _ARTICLES else ""
            continue
        longer = "-".join(filter(None, (name, join if name else "", word.lower())))
        if name and len(longer) > LONGEST_SUBJECT:
            break
        name, join, count = longer[:LONGEST_SUBJECT], "", count + (not word.isdigit())
        if count == _MOST_WORDS:
            break
    return name
