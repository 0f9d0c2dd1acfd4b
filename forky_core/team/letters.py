"""The texts of all mail that Forky sends about people: short, without pictures, each with one address to open."""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.team.mail import Mail

_WHOEVER = "If this was not you, nothing has to be done."


def sign_in_letter(to: str, address: str, *, minutes: int) -> Mail:
    """A link that signs somebody in."""
    text = f"""Open this address in the browser in which you asked for it, and press the button there:

{address}

It signs you in to Forky, once, within {minutes} minutes.

{_WHOEVER} Nobody gets in without opening it in their own browser.
"""
    return Mail(to, "Sign in to Forky", text, "sign-in", minutes * 60.0)


def reset_letter(to: str, address: str, *, minutes: int) -> Mail:
    """A link by which somebody who has forgotten their password chooses another one."""
    text = f"""Somebody asked for another password for your account in Forky. Choose one here:

{address}

The address serves once, within {minutes} minutes. Every browser in which you are signed in is then signed out.

{_WHOEVER} Your password stays as it is.
"""
    return Mail(to, "Another password for Forky", text, "reset", minutes * 60.0)


def was_reset_letter(to: str) -> Mail:
    """News for somebody whose password was changed by a link."""
    text = """Your password for Forky was changed by a link, and every browser was signed out.

If this was not you, ask an owner of your workspace for a link of your own, and look at People, You, where your ways to
sign in are listed.
"""
    return Mail(to, "Your password for Forky was changed", text, "reset")


def confirm_letter(to: str, address: str, *, minutes: int) -> Mail:
    """A link by which somebody who is signed in shows that they read what is sent to an address."""
    text = f"""Somebody who is signed in to Forky says that this is their address. Confirm it here, in the same browser:

{address}

It serves once, within {minutes} minutes. From then on links that are sent to this address sign you in.

{_WHOEVER} This address then stays unknown there.
"""
    return Mail(to, "Confirm your address for Forky", text, "confirm", minutes * 60.0)


def moved_letter(to: str) -> Mail:
    """News for the address that somebody had before."""
    text = """Your account in Forky has another address from now on: nothing more is sent to this one.

If this was not you, ask an owner of your workspace to sign you out everywhere.
"""
    return Mail(to, "Your address in Forky was changed", text, "confirm")


def invitation_letter(to: str, address: str, *, host: str, role: str, days: int) -> Mail:
    """An invitation; `host` is the name of who invites, `role` has its article: "an editor"."""
    who = f"{host} invites you" if host else "You are invited"
    until = "one day" if days == 1 else f"{days} days"
    text = f"""{who} to Forky, as {role}. Choose a name and a way to sign in here:

{address}

The invitation is for this address, for one person, and for {until}.
"""
    return Mail(to, "An invitation to Forky", text, "invitation", days * 24 * 3600.0)


def trial_letter(to: str) -> Mail:
    """What an owner sends to themselves to see whether mail gets through."""
    return Mail(to, "A test of Forky's mail", "Mail from this Forky gets through.\n", "test")


def notice_letter(to: str, lines: Sequence[tuple[str, str]], settings: str) -> Mail:
    """One notice: its sentence, and the address that it leads to. `settings` is where somebody chooses otherwise."""
    ((sentence, address),) = lines
    text = f"""{_one_line(sentence)}

{address}

You choose what is sent to you: {settings}
"""
    return Mail(to, _one_line(sentence), text, "notice")


def digest_letter(to: str, lines: Sequence[tuple[str, str]], settings: str) -> Mail:
    """Several notices in one mail, likewise."""
    told = "\n\n".join(f"- {_one_line(sentence)}\n  {address}" for sentence, address in lines)
    text = f"""{told}

You choose what is sent to you: {settings}
"""
    return Mail(to, f"{len(lines)} news from Forky", text, "digest")


def _one_line(text: str) -> str:
    """A text of people in one line, without what would reorder it or break out of it."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:400]
