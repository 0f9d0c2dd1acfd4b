"""What takes notices to people by mail and webhook: one value for the whole server, as the door is (sign_in.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forky_core.settings import Settings
from pages.ui.sign_in import MAILER, TEAM

if TYPE_CHECKING:
    from forky_core.team.delivery import Delivery


def _from_environment() -> Delivery | None:
    if TEAM is None:
        return None
    from forky_core.gateway.webhooks import CheckedWebhooks  # noqa: PLC0415 - only where there is a team
    from forky_core.team.delivery import Delivery  # noqa: PLC0415

    allowed = Settings.from_environment().webhooks
    webhooks = CheckedWebhooks(private=allowed == "private") if allowed != "off" else None
    delivery = Delivery(TEAM, mailer=MAILER, webhooks=webhooks)
    inbox = getattr(TEAM, "inbox", None)
    if inbox is not None:
        inbox.on_notice(delivery.take)
    return delivery


DELIVERY = _from_environment()
"""None on the server of one person."""
