"""Loading LiteLLM leaves the rest of the process alone."""

from __future__ import annotations

import subprocess
import sys

from tests.hangs import HANG

LOGGING_MEANWHILE = """
import logging, threading
logging.basicConfig(level=logging.CRITICAL + 1)
from forky_core.llm import loading

troubles = []

def log():
    names = ("asyncio", "uvicorn.error", "uvicorn.access", "httpx")
    while not loading._loaded.wait(0.0005):
        for name in names:
            try:
                logging.getLogger(name).critical("connection open")
            except BaseException as error:
                troubles.append(repr(error))

threads = [threading.Thread(target=log) for _ in range(2)]
loading.warm_up()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert loading.is_loaded(), loading._error
assert not troubles, troubles[:3]
key = "sk-" + "a1B2" * 12
record = logging.LogRecord("asyncio", logging.ERROR, "", 1, f"api_key={key}", None, None)
logging.getLogger("asyncio").filter(record)
assert key not in record.getMessage(), "litellm's redaction is gone"
print("fine")
"""


def test_what_the_server_logs_while_litellm_loads_deadlocks_neither() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOGGING_MEANWHILE], capture_output=True, text=True, timeout=HANG, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "fine"), done.stderr[-2000:]
