"""LiteLLM's own proxy, the gateway's peer, in an environment of its own: it brings some ninety packages.

Of the version whose library Forky uses; made once in build/, and removed by `make clean`.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from time import monotonic, sleep

from bench.serving import CHECKOUT, free_port

KEY = "sk-proxy"
_PLACE = CHECKOUT / "build" / "litellm-proxy"
_PATIENCE = 180.0


def _program() -> Path:
    """The proxy's command; its environment is made where there is none."""
    wanted = version("litellm")
    made, stamp = _PLACE / "bin" / "litellm", _PLACE / "version"
    if not stamp.exists() or stamp.read_text() != wanted:
        print("Making an environment for LiteLLM's proxy …", file=sys.stderr, flush=True)
        venv.create(_PLACE, with_pip=True, clear=True)
        command = [str(_PLACE / "bin" / "python"), "-m", "pip", "install", "-qq", f"litellm[proxy]=={wanted}"]
        subprocess.run(command, check=True)
        stamp.write_text(wanted)
    return made


@contextlib.contextmanager
def litellm_proxy(folder: Path, upstream: str) -> Iterator[str]:
    """Its base URL, with `gpt-4o` at an upstream that speaks OpenAI's protocol."""
    program, port = _program(), free_port()
    named = {"model": "openai/gpt-4o", "api_base": upstream, "api_key": "sk-upstream"}
    config = folder / "proxy.yaml"
    # JSON is YAML.
    config.write_text(
        json.dumps(
            {
                "model_list": [{"model_name": "gpt-4o", "litellm_params": named}],
                "general_settings": {"master_key": KEY},
            }
        )
    )
    environment = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_LOG": "ERROR",
        "NO_PROXY": "127.0.0.1",
    }
    # By its Python: the path in the first line of a script does not survive a move of the checkout.
    command = [
        str(_PLACE / "bin" / "python"),
        str(program),
        "--config",
        str(config),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    log = folder / "proxy.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=out)
    try:
        url = f"http://127.0.0.1:{port}"
        end = monotonic() + _PATIENCE
        while True:
            with contextlib.suppress(OSError, urllib.error.URLError):
                urllib.request.urlopen(f"{url}/health/liveliness", timeout=5).close()  # noqa: S310 - our own
                break
            if monotonic() > end or process.poll() is not None:
                raise RuntimeError(f"LiteLLM's proxy did not start:\n{log.read_text()[-2000:]}")
            sleep(0.2)
        yield f"{url}/v1"
    finally:
        process.terminate()
        process.wait()
