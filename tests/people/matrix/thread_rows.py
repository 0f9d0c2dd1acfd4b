"""A row for every public method and property of `ConversationThreads`."""

from __future__ import annotations

from tests.people.matrix.rules import ANYBODY, FOR_GOOD, OWN_BRANCH, READ
from tests.people.matrix.store_rows import Row

THREADS = (
    Row("may_write", ANYBODY, lambda c: c.threads.may_write),
    Row("may_moderate", ANYBODY, lambda c: c.threads.may_moderate),
    Row("counts", READ, lambda c: c.threads.counts),
    Row("all", READ, lambda c: c.threads.all()),
    Row("on", READ, lambda c: c.threads.on(c.talk.answer)),
    Row("thread", READ, lambda c: c.threads.thread(c.ids.thread)),
    Row("events", READ, lambda c: c.threads.events()),
    Row("readers", READ, lambda c: c.threads.readers),
    Row("begin", OWN_BRANCH, lambda c: c.threads.begin(c.talk.answer, "New")),
    Row(
        "begin",
        OWN_BRANCH,
        lambda c: c.threads.begin(c.talk.answer, "New", quote="Because"),
        "on words of it",
    ),
    Row("reply", OWN_BRANCH, lambda c: c.threads.reply(c.ids.thread, "More")),
    Row("edit", OWN_BRANCH, lambda c: c.threads.edit(c.ids.thread, c.ids.mine, "Otherwise")),
    Row("delete", OWN_BRANCH, lambda c: c.threads.delete(c.ids.thread, c.ids.mine), "of mine"),
    Row("delete", FOR_GOOD, lambda c: c.threads.delete(c.ids.thread, c.ids.theirs), "of somebody else"),
    Row("undelete", OWN_BRANCH, lambda c: c.threads.undelete(c.ids.thread, c.ids.gone)),
    Row("resolve", OWN_BRANCH, lambda c: c.threads.resolve(c.ids.thread)),
)
