"""What the dialog about people holds, as a script: AppTest closes a dialog with every run."""

from __future__ import annotations

from pages.ui.chat.people import draw_people
from pages.ui.frame import locate

here = locate()
assert here is not None
draw_people(here)
