"""The shell commands that a person pastes so that a program sends its requests through Forky."""

from __future__ import annotations


def lines_to_paste(address: str, token: str) -> str:
    """Environment variables for clients of OpenAI's and of Anthropic's protocol; nearly all of them read these."""
    base = address.rstrip("/")
    return "\n".join(
        (
            f"export OPENAI_BASE_URL={base}/v1 OPENAI_API_BASE={base}/v1",
            f"export OPENAI_API_KEY={token}",
            f"export ANTHROPIC_BASE_URL={base}",
            f"export ANTHROPIC_API_KEY={token}",
        )
    )


def agent_lines(address: str, token: str) -> str:
    """Commands and settings that make Forky's verbs known to Claude Code and to Codex."""
    base = address.rstrip("/")
    return "\n".join(
        (
            f'claude mcp add --transport http forky {base}/mcp --header "Authorization: Bearer {token}"',
            "# Codex: in ~/.codex/config.toml, with FORKY_TOKEN set where it starts",
            "[mcp_servers.forky]",
            f'url = "{base}/mcp"',
            'bearer_token_env_var = "FORKY_TOKEN"',
        )
    )
