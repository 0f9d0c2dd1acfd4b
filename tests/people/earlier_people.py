"""The people of a Forky that still had passkeys, links by mail and webhooks, as that Forky wrote them.

Ada is an owner with a password, a passkey, a confirmed address and a webhook. Ben has a passkey alone and is signed in,
Cleo a confirmed address alone, Dora an identity provider. Eve is invited by her address. A link to another password was
mailed to Ada and one that confirms an address to Ben; notices wait for a mail and for the webhook.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from forky_core.people.team import Team

FILE = Path(__file__).parent / "released" / "people-1.sqlite.gz"
MADE_AT = 1_795_936_253_200_000
"""Just after the file was written, in microseconds: nothing has expired."""
BENS_SESSION = "lVm3wIADTg4X1vDSDRUXHSi3msgSXZMbHSa8Am_3YOU"
EVES_INVITATION = "UWDQVVREKLSVM_Ab9EoE3COnkzy3qtJoUdXo-1eKAlI"
BENS_CONFIRMATION = "liFRn1dj-eSut7g81emHvFVz-9L8uOMIO8aXttKBR58"
ADAS_RESET = "croHrvEqYOcrKJDLhWlmWNpqfKAh4OywL4QzGVUlaIE"


def earlier_people(folder: Path) -> Path:
    """The file, unpacked into a folder."""
    file = folder / "people.sqlite"
    file.write_bytes(gzip.decompress(FILE.read_bytes()))
    return file


def earlier_team(folder: Path) -> Team:
    """Its team, at the time when the file was written. Close it."""
    return Team(earlier_people(folder), clock=lambda: MADE_AT)
