"""What the pages keep out of the server: imports, of which each would cost the first page half a second and 80 MB of
memory; looks at the disk in each run; and sleep.
"""

from __future__ import annotations

import re

from pages.ui.registry import pages
from tests.hangs import HANG
from tests.pages.apptest import by_itself
from tests.programs import CHECKOUT

FORMATS = ("forky_core.formats.registry", "forky_core.formats.exporting.sharing")
"""What reads and writes other programs' files: a quarter of what Forky would import for its first page."""
HEAVY = ("PIL", "bm25s", "jsonschema", "litellm", "numpy", "pandas", "pyarrow")
PAGES = [page.name for page in pages()]
EVERY_PAGE = f"""
import sys
from streamlit.testing.v1 import AppTest
import pages.ui.streamlit_patches.warmup
pages.ui.streamlit_patches.warmup._begun = True
test = AppTest.from_file({str(CHECKOUT / "pages" / "shell.py")!r}, default_timeout={HANG}).run()
print("chat at first", [name for name in {FORMATS!r} if name in sys.modules])
for page in {PAGES!r}:
    test.switch_page(page + ".py").run()
    assert not test.exception, (page, test.exception)
    print(page, [name for name in {HEAVY!r} if name in sys.modules])
"""


def test_no_page_loads_what_no_page_needs() -> None:
    done = by_itself(EVERY_PAGE)
    assert done.returncode == 0, done.stderr[-2000:]
    assert [line for line in done.stdout.splitlines() if not line.endswith(" []")] == []
    assert len(done.stdout.splitlines()) == len(PAGES) + 1


def test_no_link_looks_for_the_file_of_its_page() -> None:
    found = [
        (str(file.relative_to(CHECKOUT)), match.group())
        for file in sorted((CHECKOUT / "pages").rglob("*.py"))
        for match in re.finditer(r"st\.page_link\(\s*[\"'][^\"']+", file.read_text("utf-8"))
    ]
    assert found == []  # pages.ui.made_pages.linked has them, made once.


def test_no_run_of_a_page_sleeps() -> None:
    """A thread that warms the server up may, and so may the event loop, which serves others meanwhile; and a page
    whose database was out of reach waits a moment before it asks again.
    """
    sleeps = {
        path.name
        for path in (CHECKOUT / "pages").rglob("*.py")
        if re.search(r"(?<!asyncio\.)(?<!def )\bsleep\(", path.read_text("utf-8"))
    }
    assert sleeps == {"warmup.py", "error_boundary.py"}
