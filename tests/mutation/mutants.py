"""Every small change of a module that cosmic-ray's operators make, but for those that change nothing by intention.

Left out are changes of annotations, which are never evaluated; of decorators (`frozen=True` is held by mypy) and of
`zip(…, strict=True)`, an assertion; of the star in a list of parameters and the bar between two classes, which
cosmic-ray takes for arithmetic; and operators whose mutants are mostly the same program: a removed decorator, `is` in
place of `==`, one arithmetic operator in place of another that has nothing to do with it.
"""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

_SIMPLE = {
    "AddNot",
    "ExceptionReplacer",
    "NumberReplacer",
    "ReplaceAndWithOr",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ReplaceFalseWithTrue",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ZeroIterationForLoop",
}
_PAIRS = (
    {"Eq", "NotEq"},
    {"Is", "IsNot"},
    {"In", "NotIn"},
    {"Lt", "LtE"},
    {"Gt", "GtE"},
    {"Lt", "Gt"},
    {"LtE", "GtE"},
    {"Add", "Sub"},
    {"Mul", "Div"},
    {"BitOr", "BitAnd"},
    {"FloorDiv", "Mod"},
)
Span = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Mutant:
    module: Path
    operator: str
    occurrence: int
    line: int

    @property
    def name(self) -> str:
        return f"{self.module}:{self.line} {self.operator.removeprefix('core/')}"

    def of(self, text: str) -> str:
        """The module's text with the change made."""
        changed = mutate_code(text, get_operator(self.operator)(), self.occurrence)
        assert isinstance(changed, str)
        return changed


def mutants_of(module: Path, text: str) -> Iterator[Mutant]:
    tree = get_ast(text)
    parsed = ast.parse(text)
    never_changed, arithmetic = [*_never_changed(parsed)], [*_arithmetic(parsed)]
    for name in operator_names():
        if not _is_wanted(name.removeprefix("core/")):
            continue
        operator = get_operator(name)()
        spans = (span for node in ast_nodes(tree) for span in operator.mutation_positions(node))
        for occurrence, (begin, end) in enumerate(spans):
            if _within(never_changed, begin, end):
                continue
            if "BinaryOperator" not in name or _within(arithmetic, begin, end):
                yield Mutant(module, name, occurrence, begin[0])


def sample(mutants: Sequence[Mutant], number: int, seed: int) -> list[Mutant]:
    """So many of them, one a line: a comparison has five mutants, and would be drawn five times as often."""
    chance = random.Random(f"{seed} {mutants[0].module if mutants else ''}")
    lines: dict[tuple[Path, int], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        lines[mutant.module, mutant.line].append(mutant)
    drawn = chance.sample(sorted(lines), min(number, len(lines)))
    return [chance.choice(lines[line]) for line in drawn]


def _is_wanted(operator: str) -> bool:
    kind, *rest = operator.split("_")
    if kind in {"ReplaceComparisonOperator", "ReplaceBinaryOperator"}:
        return set(rest) in _PAIRS
    return operator in _SIMPLE or operator == "ReplaceUnaryOperator_Delete_Not"


def _within(spans: Sequence[Span], begin: tuple[int, int], end: tuple[int, int]) -> bool:
    return any(first <= begin and end <= last for first, last in spans)


def _arithmetic(tree: ast.Module) -> Iterator[Span]:
    """Where the operators of sums, products and sets stand: from the end of the left side to the right side's first
    character. What is to the right of a bar between two classes begins with a capital letter.
    """
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=ast.BitOr(), right=ast.Name(id=name) | ast.Attribute(attr=name)) if name[
                0
            ].isupper():
                continue
            case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
                yield (left.end_lineno or 0, left.end_col_offset or 0), (right.lineno, right.col_offset)


def _never_changed(tree: ast.Module) -> Iterator[Span]:
    """Where annotations, decorators and `strict=True` stand: the first and the last place of each."""
    for node in ast.walk(tree):
        found: list[ast.expr | None] = []
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                found = [node.returns, *node.decorator_list]
            case ast.ClassDef():
                found = [*node.decorator_list]
            case ast.keyword(arg="strict"):
                found = [node.value]
            case ast.arg() | ast.AnnAssign():
                found = [node.annotation]
        for one in found:
            if one is not None:
                yield (one.lineno, one.col_offset), (one.end_lineno or 0, one.end_col_offset or 0)
