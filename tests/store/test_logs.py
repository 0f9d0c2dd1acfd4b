from __future__ import annotations

from forky_core.model import ConversationId, Generation, GenerationId, Operation
from forky_core.store.duckdb.cache.logs import CallLog, Log, Logs

HERE, ELSEWHERE = ConversationId("here"), ConversationId("elsewhere")


def operation(number: int) -> Operation:
    return Operation(HERE, number, f"id {number}", None, number, "you", "ask", "", ())


def run(first: int, last: int) -> list[Operation]:
    return [operation(number) for number in range(first, last + 1)]


def numbers(found: tuple[Operation, ...] | None) -> list[int] | None:
    return [operation.number for operation in found] if found is not None else None


def generation(id: str, started: int, model: str = "m") -> Generation:
    return Generation(GenerationId(id), "main", None, model, "running", started=started)


def test_a_log_gives_what_it_holds_and_says_when_it_does_not_reach_back() -> None:
    log = Log()
    assert log.later(0, None) is None
    log.complete(run(5, 9))
    assert numbers(log.later(4, None)) == [5, 6, 7, 8, 9]
    assert numbers(log.later(0, 2)) == [8, 9]
    assert numbers(log.later(9, None)) == numbers(log.later(0, 0)) == []
    assert log.later(3, None) is None and log.later(0, 6) is None
    log.complete(run(1, 9))
    assert numbers(log.later(0, None)) == list(range(1, 10))


def test_what_is_published_while_a_log_is_read_is_neither_lost_nor_doubled() -> None:
    log = Log()
    for late in run(3, 5):
        log.publish(late)
    log.complete(run(1, 4))
    log.publish(operation(5))
    log.publish(operation(6))
    assert numbers(log.later(0, None)) == [1, 2, 3, 4, 5, 6]


def test_reading_further_back_keeps_what_came_since() -> None:
    log = Log()
    log.complete(run(8, 9))
    log.publish(operation(10))
    log.complete(run(1, 9))
    assert numbers(log.later(0, None)) == list(range(1, 11))


def test_a_generation_keeps_its_place_when_replaced_and_changes_it_when_started_anew() -> None:
    calls = CallLog()
    assert calls.all() is None
    late = generation("b", 2, "late")
    calls.publish(late)
    calls.complete([generation("a", 1), generation("b", 2), generation("c", 3)])
    assert calls.all() == (generation("a", 1), late, generation("c", 3))
    held = calls.all()
    calls.publish(generation("a", 1, "again"))
    calls.publish(generation("c", 0))
    assert calls.all() == (generation("c", 0), generation("a", 1, "again"), late)
    assert held == (generation("a", 1), late, generation("c", 3))


def test_the_logs_used_longest_ago_are_let_go_of_first() -> None:
    logs = Logs(most=50)
    logs.of(ELSEWHERE)[0].complete(run(1, 40))
    logs.of(HERE)[0].complete(run(1, 40))
    for _ in range(100):
        logs.of(HERE)
    assert logs.of(HERE)[0].later(0, None) is not None
    assert logs.of(ELSEWHERE)[0].later(0, None) is None


def test_nothing_is_kept_of_a_conversation_nobody_looks_at() -> None:
    logs = Logs()
    logs.publish(HERE, operation(1), [generation("a", 1)])
    log, calls = logs.of(HERE)
    log.complete(run(2, 2))
    assert numbers(log.later(1, None)) == [2]
    assert calls.all() is None
