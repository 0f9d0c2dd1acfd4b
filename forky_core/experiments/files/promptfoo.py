"""Reads promptfoo's configuration as an experiment: providers and prompts become columns, tests become rows.

It reads what the documentation describes (https://www.promptfoo.dev/docs/configuration/reference/): providers, prompts,
tests, defaultTest, scenarios, variables that are lists, assertions with weight, threshold and metric, and files that
the configuration refers to. Programs are never run. The experiment's notes name everything that is not read.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from forky_core.experiments.checks.registry import KINDS
from forky_core.experiments.checks.text_checks import number_of, text_of
from forky_core.experiments.files.cases import case
from forky_core.experiments.files.check_words import assertion
from forky_core.experiments.files.loading import Folder, json_lines_in, table_in, text_in, yaml_in
from forky_core.experiments.files.own_form import chat_turns
from forky_core.experiments.validation import MOST_COLUMNS, MOST_PARALLEL, MOST_ROWS
from forky_core.model.errors import BadContent
from forky_core.model.experiment import JUDGE, Experiment, ExperimentColumn, ExperimentRow, RowCheck, Turns
from forky_core.model.parts import Json

SIGNS = frozenset({"providers", "targets", "prompts", "tests", "scenarios", "defaultTest"})
"""A configuration has at least one of these fields."""
_READ = SIGNS | {
    "description",
    "evaluateOptions",
    "commandLineOptions",
    "$schema",
    "env",
    "outputPath",
    "sharing",
    "tags",
    "metadata",
    "writeLatestResults",
}
_PARAMETERS = frozenset(
    [
        "temperature",
        "max_tokens",
        "max_completion_tokens",
        "top_p",
        "top_k",
        "seed",
        "stop",
        "presence_penalty",
        "frequency_penalty",
        "response_format",
        "tools",
        "tool_choice",
        "reasoning_effort",
        "verbosity",
        "n",
        "logit_bias",
    ]
)
_PREFIXES: Mapping[str, str] = {
    "openai": "",
    "anthropic": "",
    "ollama": "ollama/",
    "google": "gemini/",
    "vertex": "vertex_ai/",
    "azureopenai": "azure/",
    "azure": "azure/",
    "bedrock": "bedrock/",
    "mistral": "mistral/",
    "groq": "groq/",
    "deepseek": "deepseek/",
    "openrouter": "openrouter/",
    "xai": "xai/",
    "togetherai": "together_ai/",
    "fireworks": "fireworks_ai/",
    "perplexity": "perplexity/",
    "cerebras": "cerebras/",
    "cohere": "cohere/",
    "huggingface": "huggingface/",
    "forky": "",
    "offline": "offline/",
}
"""LiteLLM's prefix of a model's name for each of promptfoo's prefixes."""
_MODES = frozenset(
    {"chat", "completion", "messages", "responses", "chatcompletion", "text-generation", "assistant"}
)


_Made = TypeVar("_Made")


@dataclass(slots=True)
class _Notes:
    """Collects sentences about what is not supported, and counts repeated ones."""

    counted: dict[str, int] = field(default_factory=dict)

    def add(self, sentence: str) -> None:
        self.counted[sentence] = self.counted.get(sentence, 0) + 1

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(f"{s} ({n:,}×)" if n > 1 else s for s, n in self.counted.items())


@dataclass(frozen=True, slots=True)
class _Prompt:
    label: str
    system: str
    turns: Turns


def experiment_in(entry: Mapping[str, Json], name: str, folder: Folder) -> Experiment:
    """Read the experiment that a configuration describes. Raises BadContent."""
    notes = _Notes()
    for key in sorted(set(entry) - _READ):
        notes.add(f"“{key[:60]}” of promptfoo's configuration is not read.")
    options = entry.get("evaluateOptions") or entry.get("commandLineOptions") or {}
    repeat = _whole(options.get("repeat"), 1_000_000) if isinstance(options, Mapping) else None
    parallel = _whole(options.get("maxConcurrency"), MOST_PARALLEL) if isinstance(options, Mapping) else None
    default = _default(entry.get("defaultTest"), folder, notes)
    columns = _at_most(MOST_COLUMNS, "columns", _columns(entry, folder, notes, repeat or 1))
    rows = _at_most(MOST_ROWS, "rows", _rows(entry, default, folder, notes))
    made = Experiment(
        name,
        rows or (ExperimentRow(label="without variables"),),
        columns,
        tuple(_checks(default.get("assert", []), notes)),
        about=text_of(entry.get("description", "")),
        judge=_judge(default, notes),
        parallel=parallel or 4,
    )
    return replace(made, notes=notes.sentences)


def _at_most(most: int, what: str, made: Iterator[_Made]) -> tuple[_Made, ...]:
    """Collect what a configuration produces, or raise BadContent if it is more than `most`."""
    items = tuple(itertools.islice(made, most + 1))
    if len(items) > most:
        raise BadContent(
            f"This configuration makes more than {most:,} {what}, and an experiment has {most:,} at most.",
            "Split it.",
        )
    return items


def _whole(value: Json, most: int) -> int | None:
    """Return a whole number from 1 to `most`; None for 0 and for what is not a number."""
    found = number_of(value)
    if not found or math.isnan(found):
        return None
    return int(max(1.0, min(float(most), found)))


# Columns


def model_of(id: str) -> str:
    """Return LiteLLM's name for the model of a provider's id: "openai:chat:gpt-4o" is "gpt-4o"."""
    first, *rest = id.split(":")
    if not rest:
        return id
    if len(rest) > 1 and rest[0] in _MODES:
        rest = rest[1:]
    name = ":".join(rest)
    if first == "vertex" and "gemini" in name:
        return f"gemini/{name}"
    return f"{_PREFIXES.get(first, f'{first}/')}{name}"


def _columns(
    entry: Mapping[str, Json], folder: Folder, notes: _Notes, samples: int
) -> Iterator[ExperimentColumn]:
    prompts = tuple(_prompts(entry.get("prompts", "{{prompt}}"), folder, notes))
    providers = list(_providers(entry.get("providers", entry.get("targets", [])), folder, notes))
    for id, label, config, only in providers:
        parameters = {key: value for key, value in config.items() if key in _PARAMETERS and key != "n"}
        for key in sorted(set(config) - _PARAMETERS):
            notes.add(f"“{key[:60]}” of the provider {id[:60]} is not read.")
        for prompt in prompts:
            if only and prompt.label not in only:
                continue
            model = model_of(id)
            named = label or model.rpartition("/")[2]
            yield ExperimentColumn(
                model,
                prompt.system,
                prompt.turns[0][1] if len(prompt.turns) == 1 else prompt.turns,
                MappingProxyType(parameters),
                samples,
                f"{named} · {prompt.label}" if len(prompts) > 1 else label,
            )


def _providers(
    value: Json, folder: Folder, notes: _Notes
) -> Iterator[tuple[str, str, Mapping[str, Json], tuple[str, ...]]]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str):
            if one.startswith("file://") and one.lower().endswith((".yaml", ".yml", ".json")):
                for file in _found(one, folder, notes):
                    yield from _providers(yaml_in(text_in(file), file.name), folder, notes)
            elif one.startswith(("file://", "exec:", "python:", "golang:")):
                notes.add(f"The provider {one[:80]} is a program, which is not run.")
            else:
                yield one, "", {}, ()
        elif isinstance(one, Mapping) and one:
            id, options = text_of(one.get("id", "")), one
            if not id and len(one) == 1:
                id, inner = next(iter(one.items()))
                options = inner if isinstance(inner, Mapping) else {}
            config = options.get("config")
            only = options.get("prompts")
            yield (
                id,
                text_of(options.get("label", "")),
                config if isinstance(config, Mapping) else {},
                tuple(text_of(name) for name in only) if isinstance(only, list) else (),
            )


def _prompts(value: Json, folder: Folder, notes: _Notes) -> Iterator[_Prompt]:
    listed = value if isinstance(value, list) else [value]
    if isinstance(value, Mapping):  # An older form: file and label.
        listed = [{"id": name, "label": label} for name, label in value.items()]
    for number, one in enumerate(listed, 1):
        label, text = "", one
        if isinstance(one, Mapping) and "role" not in one:
            label = text_of(one.get("label", ""))
            text = one.get("raw", one.get("id", ""))
        if isinstance(text, str) and _is_file(text):
            for file in _found(text, folder, notes):
                if file.suffix.lower() in (".js", ".mjs", ".cjs", ".ts", ".py"):
                    notes.add(f"The prompt {file.name} is a program, which is not run.")
                    continue
                pieces = (
                    re.split(r"^\s*---\s*$", text_in(file), flags=re.MULTILINE)
                    if file.suffix == ".txt"
                    else [text_in(file)]
                )
                for at, piece in enumerate(pieces, 1):
                    name = label or (file.stem if len(pieces) == 1 else f"{file.stem} {at}")
                    yield _prompt(piece.strip(), name)
        else:
            yield _prompt(text, label or _short(text, number))


def _is_file(text: str) -> bool:
    return text.startswith("file://") or (
        "\n" not in text
        and bool(re.fullmatch(r"[\w./*\-]+\.(txt|json|ya?ml|md|js|mjs|cjs|ts|py)", text.strip()))
    )


def _prompt(text: Json, label: str) -> _Prompt:
    """Read a prompt: a text, or a list of messages in JSON or YAML."""
    messages = text if isinstance(text, list) else None
    if isinstance(text, str) and text.lstrip()[:1] in ("[", "-") and "role" in text:
        try:
            messages = yaml_in(text, label)
        except BadContent:
            messages = None
    turns = chat_turns(messages) if isinstance(messages, list) and messages else (("user", text_of(text)),)
    system = "\n\n".join(content for role, content in turns if role == "system")
    spoken = tuple(turn for turn in turns if turn[0] != "system")
    if not spoken or spoken[-1][0] != "user":
        spoken = (*spoken, ("user", "{{prompt}}" if not spoken else "Continue."))
    return _Prompt(label, system, spoken)


def _short(text: Json, number: int) -> str:
    words = " ".join(text_of(text).split()) if isinstance(text, str) else ""
    return words if 0 < len(words) <= 40 else f"prompt {number}"


# Rows


def _default(value: Json, folder: Folder, notes: _Notes) -> Mapping[str, Json]:
    if isinstance(value, str):
        files = _found(value, folder, notes)
        value = yaml_in(text_in(files[0]), files[0].name) if files else {}
    return value if isinstance(value, Mapping) else {}


def _rows(
    entry: Mapping[str, Json], default: Mapping[str, Json], folder: Folder, notes: _Notes
) -> Iterator[ExperimentRow]:
    for test in _tests(entry.get("tests", []), folder, notes):
        yield from _expanded(default, {}, test, folder, notes)
    scenarios = entry.get("scenarios", [])
    for scenario in scenarios if isinstance(scenarios, list) else []:
        if not isinstance(scenario, Mapping):
            continue
        listed = scenario.get("config", [{}])
        configs = [one for one in (listed if isinstance(listed, list) else []) if isinstance(one, Mapping)]
        for config, test in itertools.product(configs, _tests(scenario.get("tests", [{}]), folder, notes)):
            yield from _expanded(default, config, test, folder, notes)


def _tests(value: Json, folder: Folder, notes: _Notes) -> Iterator[Mapping[str, Json] | ExperimentRow]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, Mapping) and "path" in one and "vars" not in one and "assert" not in one:
            one = text_of(one["path"])  # noqa: PLW2901 - a generator of tests, of which we read files
        if isinstance(one, Mapping):
            yield one
        elif isinstance(one, str) and one:
            for file in _found(one, folder, notes):
                yield from _tests_of(file, folder, notes)


def _tests_of(file: Path, folder: Folder, notes: _Notes) -> Iterator[Mapping[str, Json] | ExperimentRow]:
    ending = file.suffix.lower()
    if ending == ".csv":
        for line in table_in(text_in(file), file.name):
            yield _of_table(line)
    elif ending == ".jsonl":
        yield from (one for one in json_lines_in(text_in(file), file.name) if isinstance(one, Mapping))
    elif ending in (".yaml", ".yml", ".json"):
        yield from _tests(yaml_in(text_in(file), file.name), folder, notes)
    else:
        notes.add(f"The tests in {file.name} are a program or a kind of file that is not read.")


def _of_table(line: Mapping[str, str]) -> ExperimentRow:
    """Read a line of a table, in which all columns without `__` are variables."""
    special = {key: value for key, value in line.items() if key.startswith("__")}
    variables = {key: value for key, value in line.items() if not key.startswith("__")}
    made = case(special)
    return replace(made, variables=MappingProxyType(variables))


def _expanded(
    default: Mapping[str, Json],
    config: Mapping[str, Json],
    test: Mapping[str, Json] | ExperimentRow,
    folder: Folder,
    notes: _Notes,
) -> Iterator[ExperimentRow]:
    """Yield the rows of one test, one for each combination of values of its variables that are lists."""
    if isinstance(test, ExperimentRow):
        row, own, listed = test, dict(test.variables), []
    else:
        row, own, listed = (
            ExperimentRow(),
            _variables(test.get("vars"), folder, notes),
            test.get("assert", []),
        )
        for key in ("transform", "provider", "providers"):
            if key in test:
                notes.add(f"“{key}” of a test is not read.")
    variables = {
        **_variables(default.get("vars"), folder, notes),
        **_variables(config.get("vars"), folder, notes),
        **own,
    }
    options: dict[str, Json] = {}
    for one in (default, config, test if isinstance(test, Mapping) else {}):
        more = one.get("options")
        options.update(more if isinstance(more, Mapping) else {})
    for key in sorted(set(options) - {"provider", "disableVarExpansion"}):
        notes.add(f"The option “{key[:60]}” of tests is not read.")
    checks = [
        *_checks(config.get("assert", []), notes),
        *_checks(listed, notes),
        *row.checks,
    ]
    own_fields: Mapping[str, Json] = test if isinstance(test, Mapping) else {}
    threshold = (
        number_of(own_fields.get("threshold", default.get("threshold")))
        if not isinstance(test, ExperimentRow)
        else row.threshold
    )
    label = text_of(own_fields.get("description", "")) or row.label
    lists = {
        k: v
        for k, v in variables.items()
        if isinstance(v, list) and v and not options.get("disableVarExpansion")
    }
    combined = 1
    for listed_values in lists.values():
        combined *= len(listed_values)
    if combined > MOST_ROWS:
        raise BadContent(
            f"The variables of one test have {combined:,} combinations; {MOST_ROWS:,} rows are the most."
        )
    for chosen in itertools.product(*lists.values()):
        values = {**variables, **dict(zip(lists, chosen, strict=True))}
        yield ExperimentRow(
            "", MappingProxyType(values), row.reference, tuple(checks), threshold=threshold, label=label
        )


def _variables(value: Json, folder: Folder, notes: _Notes) -> dict[str, Json]:
    if isinstance(value, str) and value.startswith("file://"):
        files = _found(value, folder, notes)
        value = yaml_in(text_in(files[0]), files[0].name) if files else {}
    if not isinstance(value, Mapping):
        return {}
    made: dict[str, Json] = {}
    for name, one in value.items():
        made[name] = one
        if isinstance(one, str) and one.startswith("file://"):
            files = _found(one, folder, notes)
            if files and files[0].suffix.lower() in (".js", ".py", ".ts", ".mjs", ".cjs"):
                notes.add(f"The variable {files[0].name} is a program, which is not run.")
            elif files:
                made[name] = text_in(files[0])
    return made


def _checks(value: Json, notes: _Notes) -> Iterator[RowCheck]:
    for one in value if isinstance(value, list) else []:
        if not isinstance(one, Mapping):
            notes.add("An assertion that is no object is not read.")
            continue
        if one.get("type") == "assert-set":
            if one.get("threshold") is not None:
                notes.add(
                    "The threshold of an assert-set is not read: each of its assertions counts by itself."
                )
            yield from _checks(one.get("assert", []), notes)
            continue
        check = assertion(one)
        if check.kind not in KINDS or check.kind == "code":
            notes.add(
                f"Assertions of the type “{check.kind}” are not made; they are kept and decide nothing."
            )
        if "transform" in one:
            notes.add("“transform” of an assertion is not done.")
        if check.kind == "similar":
            notes.add(
                "“similar” compares words unless the assertion names an embedding model as its provider: thresholds for "
                "meanings are too high for words."
            )
        provider = one.get("provider")
        if check.kind in (JUDGE, "best", "similar") and provider:
            check = replace(check, model=model_of(_provider_id(provider).replace(":embedding:", ":")))
        yield check


def _judge(default: Mapping[str, Json], notes: _Notes) -> str | None:
    options = default.get("options")
    provider = options.get("provider") if isinstance(options, Mapping) else None
    if isinstance(provider, Mapping) and "text" in provider:
        provider = provider["text"]
    id = _provider_id(provider)
    if id.startswith(("file://", "python:", "exec:")):
        notes.add(f"The judge {id[:80]} is a program, which is not run.")
        return None
    return model_of(id) if id else None


def _provider_id(value: Json) -> str:
    if isinstance(value, Mapping):
        return text_of(value.get("id", ""))
    return text_of(value) if value else ""


def _found(name: str, folder: Folder, notes: _Notes) -> Sequence[Path]:
    """Return the files of this name; a missing one is noted, because the rest of the configuration may still be
    useful.
    """
    try:
        return folder.find(name)
    except BadContent as error:
        notes.add(str(error))
        return ()
