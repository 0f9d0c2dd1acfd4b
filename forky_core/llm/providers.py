"""The providers of models, the names of their keys, and which of their models are current.

A model's name is LiteLLM's: OpenAI's and Anthropic's bare ("gpt-4o"), all others with a prefix
("gemini/gemini-2.5-pro"). The existing names are read from the price map that LiteLLM ships, never from the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider whose models need a key."""

    id: str
    """LiteLLM's name for it, and the prefix of its models."""
    label: str
    variables: tuple[str, ...]
    """Environment variables that can have the key; the first is the recommended one."""
    bare: str = ""
    """Pattern of its models' names without a prefix, if it has any."""
    preferred: str = ""
    """Pattern of the models to test a key with and to offer first: quick and cheap."""
    only: str = ""
    """Pattern of the models to list, if the map has many that few would choose."""


PROVIDERS = (
    Provider("openai", "OpenAI", ("OPENAI_API_KEY",), r"(?:gpt-|o\d|chatgpt|chat-latest|ft:)", r"mini|luna"),
    Provider("anthropic", "Anthropic", ("ANTHROPIC_API_KEY",), r"claude", r"haiku"),
    Provider("gemini", "Google Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "", r"flash", r"/gemini-"),
    Provider("mistral", "Mistral", ("MISTRAL_API_KEY",), "", r"small", r"/\w+stral-\w+-latest"),
    Provider("deepseek", "DeepSeek", ("DEEPSEEK_API_KEY",), "", r"flash|chat"),
    Provider("groq", "Groq", ("GROQ_API_KEY",), "", r"20b"),
    Provider(
        "xai", "xAI", ("XAI_API_KEY",), "", r"fast|non-reasoning", r"/grok-[\d.]+(?:-(?:non-)?reasoning)?$"
    ),
    Provider("openrouter", "OpenRouter", ("OPENROUTER_API_KEY",), "", r"mini|flash"),
    Provider("moonshot", "Moonshot", ("MOONSHOT_API_KEY",), "", ""),
    Provider("together_ai", "Together AI", ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY"), "", ""),
    Provider("fireworks_ai", "Fireworks AI", ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"), "", ""),
    Provider(
        "perplexity", "Perplexity", ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"), "", r"sonar$", r"/sonar"
    ),
    Provider("cerebras", "Cerebras", ("CEREBRAS_API_KEY",), "", ""),
)

_OFFERED = 12
"""The number of current models listed per provider; any other name can be typed."""
_SPECIAL = re.compile(
    r"audio|realtime|search|tts|transcri|image|vision-exp|embed|moderation|guard|robotics|computer-use|deep-research|"
    r"lyria|learnlm|exp(?:erimental)?-|-exp|preview|beta|ft:|instruct-|cyber|daybreak|customtools|safeguard|\bcli\b|"
    r"labs-|fim-|omni|voxtral|codellama",
    re.IGNORECASE,
)
_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{4})$")
_VERSION = re.compile(r"(?:^|[-/a-z])(\d{1,2})(?:[.\-](\d{1,2}))?(?![\db])", re.IGNORECASE)


def provider_of(model: str) -> Provider | None:
    """Return the provider of a model by its name; None for one that only LiteLLM may know."""
    prefix, slash, _ = model.partition("/")
    if slash:
        return next((provider for provider in PROVIDERS if provider.id == prefix), None)
    return next((p for p in PROVIDERS if p.bare and re.match(p.bare, model, re.IGNORECASE)), None)


def current_models(
    provider: Provider, price_map: Mapping[str, Mapping[str, Any]], today: date
) -> tuple[str, ...]:
    """Return the names of a provider's chat models that are not dated copies, previews or retired, newest first."""
    names = {name for name, entry in price_map.items() if _is_offered(name, entry, provider, today)}
    return tuple(sorted(names, key=_newest_first)[:_OFFERED])


def _is_offered(name: str, entry: Mapping[str, Any], provider: Provider, today: date) -> bool:
    if entry.get("mode") != "chat" or entry.get("litellm_provider") != provider.id:
        return False
    if name.startswith(f"{provider.id}/") == bool(provider.bare):
        return False
    if provider.bare and not re.match(provider.bare, name):
        return False
    if provider.only and not re.search(provider.only, name):
        return False
    retired = str(entry.get("deprecation_date") or "")
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", retired) and date.fromisoformat(retired) <= today:
        return False
    return not _SPECIAL.search(name) and not _DATED.search(name)


def _newest_first(name: str) -> tuple[float, int, str]:
    """Return a sort key by the first version number in the name; names without one come last."""
    match = _VERSION.search(name.rsplit("/", 1)[-1])
    version = float(f"{match.group(1)}.{match.group(2) or 0}") if match else -1.0
    return (-version, len(name), name)


def quick_model(provider: Provider, names: Iterable[str]) -> str | None:
    """Return the model to test a key with."""
    models = tuple(names)
    quick = (name for name in models if provider.preferred and re.search(provider.preferred, name))
    return next(quick, models[0] if models else None)
