"""The keys of `.streamlit/secrets.toml`, handed to the catalogue of models by their names.

The file is read here and not through `st.secrets`, which draws an error on the page where it cannot be read and has
no way to say that it is missing. Values stay in memory: nothing here prints or keeps one.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st


@dataclass(frozen=True, slots=True)
class Secrets:
    """What the files hold."""

    values: dict[str, str] = field(default_factory=dict, repr=False)
    """By variable name; only text at the top level, which is where a key belongs."""
    problem: str = ""
    """A sentence, where a file is there and cannot be read. Quotes nothing of it."""


def read_secrets(files: tuple[Path, ...] | None = None) -> Secrets:
    """A later file wins, as in Streamlit: first the user's, then the checkout's."""
    values: dict[str, str] = {}
    problem = ""
    for file in files if files is not None else _files():
        try:
            held = tomllib.loads(file.read_text("utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError):
            problem = f"{file} cannot be read, so the keys in it are not used."
        except (tomllib.TOMLDecodeError, RecursionError):
            problem = (
                f'{file} is not valid TOML, so the keys in it are not used. Write each as NAME = "value".'
            )
        else:
            values.update({name: value for name, value in held.items() if isinstance(value, str)})
    return Secrets(values, problem)


def _files() -> tuple[Path, ...]:
    return tuple(Path(file).expanduser() for file in st.get_option("secrets.files"))
