"""Who may come in, one value for the whole server: the gate in app.py asks it, and Settings says what holds."""

from __future__ import annotations

import sys

from forky_core.gateway.access.sign_in import SignIn
from forky_core.model.errors import RequestError
from forky_core.settings import Settings


def _from_environment() -> SignIn:
    try:
        return SignIn.from_settings(Settings.from_environment())
    except RequestError as error:
        sys.exit(f"Forky does not start. {error}")


SIGN_IN = _from_environment()
