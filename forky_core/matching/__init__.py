"""From a provider's array of messages to a place in a tree: keys, and the search for the array's path.

Pure functions like those of merge/ and context/: nothing here reads or writes a store. The array is decoded by wire/;
the verbs are in conversation/recording/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forky_core.process.deprecations import retired_names

if not TYPE_CHECKING:
    __getattr__ = retired_names(__name__)
