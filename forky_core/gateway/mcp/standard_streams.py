"""The tools over standard input and output, for an agent that starts `forky mcp` itself."""

from __future__ import annotations

import asyncio

from forky_core.gateway.api.threads import VerbThreads
from forky_core.gateway.mcp.server import verb_server
from forky_core.process.extras import needed_for
from forky_core.verbs.verb import VerbCaller

with needed_for("An MCP server", "mcp"):
    from mcp.server.stdio import stdio_server


def serve(caller: VerbCaller) -> None:
    """Answer the requests of one agent until its input ends."""
    with asyncio.Runner() as runner:
        runner.run(_serve(caller))


async def _serve(caller: VerbCaller) -> None:
    threads = VerbThreads(8)
    server = verb_server(lambda _context: caller, threads)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
    threads.close()
