"""The tools over standard input and output, for an agent that starts `forky mcp` itself."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from mcp.server.stdio import stdio_server

from forky_core.gateway.mcp.server import verb_server
from forky_core.verbs.verb import VerbCaller


def serve(caller: VerbCaller) -> None:
    """Answer the requests of one agent until its input ends."""
    with asyncio.Runner() as runner:
        runner.run(_serve(caller))


async def _serve(caller: VerbCaller) -> None:
    with ThreadPoolExecutor(8, "tools") as executor:
        server = verb_server(lambda _context: caller, executor)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
