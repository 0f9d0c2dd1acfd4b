"""The library leaves its host alone: what it finds in a process is there unchanged when it has been used.

A program of its own takes a snapshot, uses every verb that the README shows, takes another and prints what differs. In
one variant the program has imported LiteLLM before. In the other Forky imports it; there, what another process shows
after it has imported LiteLLM alone is LiteLLM's doing and not Forky's: its own log handler, filters and warnings.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from forky_core.llm.process_tuning import tune_process
from tests.llm import wire
from tests.programs import CHECKOUT

SNAPSHOT = '''
import asyncio, gc, json, logging, os, signal, sys, threading, types, warnings

MODULES = ("openai", "httpx", "httpcore", "litellm", "tiktoken", "asyncio", "warnings", "gc", "sys", "json", "csv")
COMPARED_BELOW = {"sys.path", "sys.meta_path", "sys.path_importer_cache", "warnings.filters"}
CACHES = {
    "asyncio.coroutines._iscoroutine_typecache",
    "asyncio.events._event_loop_policy",  # The usual one, made when somebody first asks for it.
    "httpx._transports.default.HTTPCORE_EXC_MAP",
    "tiktoken.registry.ENCODING_CONSTRUCTORS",
}
"""What these packages fill by themselves when they are first used; those of LiteLLM were empty before."""


NEVER_NEW = ("environment", "filter", "handler")


def said(value):
    """What an attribute is: a constant or a collection by what it holds, anything else by its identity."""
    # By `type`: to ask openai's proxies for their class makes a client.
    if type(value) in (bool, int, float, str, bytes, type(None)):
        return repr(value)
    if type(value) in (list, tuple, set, frozenset, dict) and len(value) < 200:
        return f"{type(value).__name__} {len(value)} {sorted(map(str, value))}"
    return f"{type(value).__name__} {id(value)}"


def attributes():
    """Of the modules of other packages and of their classes."""
    found = {}
    for name, module in sorted(sys.modules.items()):
        if module is None or name.partition(".")[0] not in MODULES:
            continue
        for attribute, value in list(vars(module).items()):
            if type(value) is types.ModuleType or f"{name}.{attribute}" in COMPARED_BELOW | CACHES:
                continue
            if value is None and attribute.startswith("_") and name.partition(".")[0] == "litellm":
                continue  # What LiteLLM makes when it first needs it.
            found[f"{name}.{attribute}"] = said(value)
            if type(value) is type and value.__module__ == name:
                for own, part in list(vars(value).items()):
                    if isinstance(part, (types.FunctionType, property, classmethod, staticmethod)):
                        found[f"{name}.{attribute}.{own}"] = said(part)
    return found


def loggers():
    """Levels, handlers and filters, of the loggers that are not Forky's own."""
    found = {}
    for name, logger in [("root", logging.root), *sorted(logging.root.manager.loggerDict.items())]:
        if isinstance(logger, logging.Logger) and name.partition(".")[0] != "forky":
            found[f"level of logger {name}"] = (logger.level, logger.disabled, logger.propagate)
            for kind, held in (("handlers", logger.handlers), ("filters", logger.filters)):
                found[f"{kind} of logger {name}"] = [type(one).__name__ for one in held]
            for number, handler in enumerate(logger.handlers):
                filters = [type(one).__name__ for one in handler.filters]
                found[f"handler {number} of logger {name}"] = (handler.level, filters)
    for owner in (logging.Filterer, logging.Logger, logging.Handler, logging.LogRecord):
        for own, part in vars(owner).items():
            found[f"logging.{owner.__name__}.{own}"] = said(part)
    found["record factory"] = id(logging.getLogRecordFactory())
    found["logging.disable"] = logging.root.manager.disable
    return found


def process():
    return {
        "gc enabled": gc.isenabled(),
        "gc thresholds": gc.get_threshold(),
        "gc frozen": gc.get_freeze_count(),
        "gc callbacks": [id(one) for one in gc.callbacks],
        "switch interval": sys.getswitchinterval(),
        "showwarning": id(warnings.showwarning),
        "signals": {int(one): str(signal.getsignal(one)) for one in signal.valid_signals()},
        "meta path": [getattr(one, "__name__", type(one).__name__) for one in sys.meta_path],
        "path hooks": [getattr(one, "__qualname__", str(one)) for one in sys.path_hooks],
        "path": list(sys.path),
        "excepthook": id(sys.excepthook),
        "unraisablehook": id(sys.unraisablehook),
        "threading excepthook": id(threading.excepthook),
        "stack size": threading.stack_size(),
        "recursion limit": sys.getrecursionlimit(),
        "event loop policy": str(asyncio.get_event_loop_policy()),
        "event loop": str(getattr(asyncio.get_event_loop_policy(), "_local", None).__dict__.get("_loop")),
        "folder": os.getcwd(),
        "standard streams": [id(one) for one in (sys.stdin, sys.stdout, sys.stderr)],
        **{f"filter of warnings {one[:3]} {one[3] and getattr(one[3], 'pattern', one[3])}": True for one in warnings.filters},
        **{f"environment {name}": value for name, value in os.environ.items()},
    }


def snapshot():
    return {**attributes(), **loggers(), **process()}


def differences(before, after, new):
    """Of what was there before; `new` says which names may not appear either."""
    for name in sorted(before.keys() | after.keys()):
        if name in before and before[name] != after.get(name):
            print("CHANGED", name, "::", before[name], "->", after.get(name))
        elif name not in before and new(name):
            print("NEW", name, "::", after[name])
'''

VERBS = """
def use_forky():
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from forky_core import Forky
    from forky_core.bots import ChatBot, QueryBot, SimpleBot
    from forky_core.model.errors import ModelError
    from forky_core.formats.importing.landing import import_file
    from forky_core.formats.exporting.redaction import findings, redacted
    from forky_core.formats.exporting.registry import exporter
    from forky_core.formats.exporting.sharing import export_value, save_as

    server = os.environ["FORKY_SERVERS"].removeprefix("http://").removesuffix("/v1")
    with TemporaryDirectory() as folder, Forky.open(Path(folder, "forky.duckdb")) as forky:
        chat = forky.create("Naming the CLI", system="Be brief.")
        reply = chat.ask("Suggest a name for a command that forks conversations.", model="offline/quote")
        debug = chat.fork("debug", at=reply.id)
        said = []
        debug.ask("Why does code generation fail on enums?", model=f"{server}/m", on_text=said.append)
        assert "".join(said) == "Because."
        chat.ask("And for OpenAI?", model="gpt-4o")
        try:
            debug.ask("Fail, please.", model="gpt-4o", max_tokens=-1)
        except ModelError:
            pass
        chat.ask("And a name for the library?", model="offline/digest")
        chat.documents.of_conversation.append("The warranty of the X200 pump is two years.", name="manual.txt")
        chat.documents.use()
        chat.ask("How long is the warranty?", model="offline/quote")
        plan = chat.plan_merge(debug, strategy="squash", focus="what we learned")
        chat.merge(plan)
        chat.undo()
        leaves = export_value(forky.store, chat)
        for kind in ("html", "forky", "markdown", "messages"):
            save_as(redacted(leaves, findings(leaves)), exporter(kind), Path(folder, f"chat.{kind}"))
        with Forky.open(":memory:") as elsewhere:
            import_file(elsewhere, Path(folder, "chat.forky"))
        assert forky.models.model("gpt-4o").count_tokens("tokenization") > 0
        from forky_core.llm.tokens import read_vocabulary
        read_vocabulary("o200k_base").join()
        assert forky.models.model("gpt-4o").count_tokens("tokenization") == 2
        for bot in (SimpleBot, ChatBot, QueryBot):
            bot("Be brief.", model="offline/quote", stream=False, forky=forky)("How do I fork?")
        SimpleBot("Be brief.", model=f"{server}/m", stream=False, forky=forky)("Why?")
"""

WITHOUT_A_NETWORK = """
import csv, numpy, openai, httpx, httpcore, tiktoken
import openai.resources.chat.completions, openai.types.chat, openai._streaming
OFFLINE = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}

def import_litellm():
    os.environ.update(OFFLINE)
    import litellm
    for name in OFFLINE:
        del os.environ[name]
    return litellm
"""
"""How a program imports LiteLLM here: it fetches no price map, and reads no `./.env`."""

THERE_BEFORE = """
import markdown_it  # It makes its loggers when it is imported.
litellm = import_litellm()
litellm.completion("gpt-4o", [{"role": "user", "content": "Hi"}], mock_response="Hello")
before = snapshot()
use_forky()
differences(before, snapshot(), lambda name: name.startswith(NEVER_NEW))
print("FINISHED")
"""

LITELLM_ALONE = """
import markdown_it
import_litellm()
print(json.dumps({**loggers(), **process()}))
"""

IMPORTED_BY_FORKY = """
alone = json.load(open(sys.argv[1]))
before = snapshot()
use_forky()
after = snapshot()
for name, value in json.loads(json.dumps({**loggers(), **process()})).items():
    if name in alone and alone[name] == value:
        before[name] = after[name]  # As LiteLLM leaves it behind by itself.
differences(before, after, lambda name: name.startswith(NEVER_NEW))
print("FINISHED")
"""


class ModelServer(BaseHTTPRequestHandler):
    """Speaks OpenAI's protocol, has a model `m`, and refuses a question that begins with “Fail”."""

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self.connection.sendall(wire.answer("200 OK", {"object": "list", "data": [{"id": "m"}]}))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if asked["messages"][-1]["content"].startswith("Fail"):
            self.connection.sendall(wire.answer("400 Bad Request", {"error": {"message": "No."}}))
            return
        for piece in (wire.HEAD, wire.chunk("Because."), wire.chunk(finish="stop"), wire.DONE):
            self.connection.sendall(piece)


@pytest.fixture
def server() -> Iterator[str]:
    """The base URL of a model server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), ModelServer) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}/v1"
        listening.shutdown()
        thread.join()


def run(script: str, folder: Path, *arguments: str, **environment: str) -> list[str]:
    """The lines that a bare program prints, in a folder with a `.env` that nobody asked it to read."""
    (folder / ".env").write_text("FROM_DOT_ENV=1\n")
    bare = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "SYSTEMROOT") if name in os.environ}
    program = SNAPSHOT + VERBS + WITHOUT_A_NETWORK + script
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=bare | {"PYTHONPATH": str(CHECKOUT), "FORKY_PROBE": "off"} | environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "variant", ["there before", pytest.param("imported by Forky", marks=pytest.mark.long)]
)
def test_a_program_that_uses_forky_finds_its_process_as_it_was(
    variant: str, server: str, tmp_path: Path
) -> None:
    environment = {"FORKY_SERVERS": server, "OPENAI_BASE_URL": server, "OPENAI_API_KEY": "sk-0123456789"}
    if variant == "there before":
        lines = run(THERE_BEFORE, tmp_path, **environment)
    else:
        (tmp_path / "alone.json").write_text(run(LITELLM_ALONE, tmp_path, **environment)[-1])
        lines = run(IMPORTED_BY_FORKY, tmp_path, "alone.json", **environment)
    assert lines[-1] == "FINISHED"
    assert "\n".join(line for line in lines if line.startswith(("CHANGED", "NEW"))) == ""


TUNED = """
logging.getLogger("httpcore")
import_litellm()
before = snapshot()
from forky_core.llm.process_tuning import tune_process
tune_process()
from forky_core.process.scheduling import short_switch_interval, gc_paused
from forky_core.llm import loading
loading.litellm()
with short_switch_interval(), gc_paused():
    differences(before, snapshot(), lambda name: name.startswith(NEVER_NEW))
"""


def test_the_comparison_sees_all_that_the_app_asks_for_and_its_docstring_names_it(tmp_path: Path) -> None:
    names = {line.split(" :: ")[0].partition(" ")[2] for line in run(TUNED, tmp_path)}
    others = {name for name in names if "logger" not in name.lower()}
    changed = {name.rpartition(" ")[2].rpartition(".")[2] for name in others}
    quiet = {name.removeprefix("level of logger ") for name in names if name.startswith("level")}
    assert changed == {
        "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS",
        "LITELLM_LOCAL_MODEL_COST_MAP",
        "LITELLM_LOG",
        "LITELLM_MODE",
        "MAX_IMAGE_URL_DOWNLOAD_SIZE_MB",
        "disable_aiohttp_transport",
        "disable_hf_tokenizer_download",
        "disable_token_counter",
        "suppress_debug_info",
        "enabled",
        "interval",
    }
    assert quiet == {"LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "httpcore", "openai"}
    documented = tune_process.__doc__ or ""
    assert [name for name in changed - {"enabled", "interval"} | quiet if name not in documented] == []
