"""The pages that a browser sees before it has signed in: small, without Streamlit, in Forky's colours, light and dark.

Their links and forms stay on this server, so they send it the referrer: without that, a browser sends `Origin: null`
with a form, which the gate refuses.
"""

from __future__ import annotations

from html import escape

from forky_core.team.roles import Role

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="same-origin">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
{head}<title>{title}</title>
<link rel="icon" href="/favicon.png" type="image/svg+xml">
<style>
:root {{
  --back: #f3f1ec; --card: #fcfbf9; --text: #23272a; --quiet: #5d6468; --line: #e2dfd8;
  --accent: #1f6f63; --on-accent: #ffffff; --wrong: #9c2f22;
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --back: #111416; --card: #1e2326; --text: #dfe3e1; --quiet: #9aa39f; --line: #2e3538;
    --accent: #3f9f8e; --on-accent: #08110f; --wrong: #f0937f;
  }}
}}
* {{ box-sizing: border-box; }}
body {{
  margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem;
  background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif;
}}
main {{
  width: 100%; max-width: 26rem; padding: 2rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .6rem;
}}
h1 {{ display: flex; align-items: center; gap: .6rem; margin: 0 0 .75rem; font-size: 1.4rem; font-weight: 650; }}
h1 svg {{ width: 1.8rem; height: 1.8rem; }}
p {{ margin: 0 0 1rem; color: var(--quiet); }}
p.wrong {{ color: var(--wrong); font-weight: 600; }}
label {{ display: block; margin-bottom: .3rem; font-weight: 600; }}
input {{
  width: 100%; padding: .6rem .7rem; margin-bottom: 1rem; border: 1px solid var(--line); border-radius: .4rem;
  background: var(--back); color: inherit; font: inherit;
}}
button {{
  width: 100%; padding: .65rem; border: 0; border-radius: .4rem; background: var(--accent); color: var(--on-accent);
  font: inherit; font-weight: 600; cursor: pointer;
}}
:is(input, button, a):focus-visible {{ outline: 2px solid var(--accent); outline-offset: 2px; }}
a {{ color: var(--accent); }}
label small {{ color: var(--quiet); font-weight: 400; }}
p.or {{ text-align: center; margin: 1rem 0; }}
.way {{
  display: block; padding: .6rem; border: 1px solid var(--line); border-radius: .4rem; text-align: center;
  background: none; color: inherit; font-weight: 600; text-decoration: none;
}}
.way + .way {{ margin-top: .6rem; }}
p.below {{ margin: .8rem 0 0; text-align: center; }}
p[role=status] {{ margin: .6rem 0 0; }}
p[role=status]:empty {{ margin: 0; }}
</style>
</head>
<body>
<main>
<h1><svg viewBox="0 0 32 32" aria-hidden="true"><g fill="none" stroke="currentColor" stroke-width="3"
><path d="M9 5v22M9 20c0-7 14-3 14-10"/></g><g fill="currentColor"><circle cx="9" cy="6" r="4"/><circle cx="9"
cy="26" r="4"/></g><circle cx="23" cy="8" r="4" fill="#b0612a"/></svg>{title}</h1>
{main}
</main>
</body>
</html>
"""

_HOW = (
    "The address that is printed where Forky was started lets you in. Open that one, or copy what stands behind "
    "“secret=” in it."
)
_OR = '\n<p class="or">or</p>\n'
"""Between two ways to sign in."""
SCRIPT_TEXT = """// The cookie of a session is not sent along a link from another site. Asked from here it is.
const form = document.querySelector("form");
if (form.elements.next) fetch("/sign-in/session").then((answer) => {
  if (answer.status === 204) location.replace(form.elements.next.value);
});
// What was typed here and not sent (pages/ui/keeping/storage.js) is not left to whoever uses this browser next.
else form.addEventListener("submit", () => {
  for (const kept of [localStorage, sessionStorage])
    for (const key of Object.keys(kept)) if (key.startsWith("forky.kept/")) kept.removeItem(key);
});
"""
"""A script that redirects a browser which already has a session to the requested page, and at signing out has it forget
what was typed.
"""


def sign_in_form(path: str, script: str, target: str, sentence: str, *, by_password: bool) -> str:
    """The page that asks for the password, or for the printed secret; `sentence` reports the last failure."""
    name, hint = ("Password", "This Forky asks for a password.") if by_password else ("Secret", _HOW)
    wrong = f'<p class="wrong" role="alert">{escape(sentence)}</p>\n' if sentence else ""
    main = f"""<p>{hint}</p>
{wrong}<form method="post" action="{path}">
<input type="hidden" name="next" value="{escape(target)}">
<label for="secret">{name}</label>
<input id="secret" name="secret" type="password" autocomplete="current-password" required autofocus>
<button>Sign in</button>
</form>
<script src="{script}" defer></script>"""
    return _FRAME.format(head="", title="Sign in to Forky", main=main)


def ways_page(script: str, target: str, offers: list[str], sentence: str, hint: str) -> str:
    """The sign-in page of a team: what each way to sign in offers; `sentence` reports the last failure, and `hint` says
    what to do for whoever has none of these ways.
    """
    said = f'<p class="wrong" role="alert">{escape(sentence)}</p>' if sentence else "<p>Sign in to go on.</p>"
    main = f"""{said}
<form hidden><input type="hidden" name="next" value="{escape(target)}"></form>
{_OR.join(offers)}<p class="below">{escape(hint)}</p>
<script src="{script}" defer></script>"""
    return _FRAME.format(head="", title="Sign in to Forky", main=main)


def join_page(host: str, role: Role, offers: list[str], sentence: str, known: str = "") -> str:
    """The page of an invitation; `host` is the name of who invites, "" where the operator does.

    `known` is the address at which somebody signs in who is here already; "" if nobody can be.
    """
    said = (
        f"<bdi>{escape(host)}</bdi> invites you to this Forky, as {role.phrase}."
        if host
        else f"You are invited to this Forky, as {role.phrase}."
        if known
        else f"This Forky has nobody yet. You become its {role.word}."
    )
    wrong = f'<p class="wrong" role="alert">{escape(sentence)}</p>' if sentence else ""
    other = f'<p>Are you here already? <a href="{escape(known)}">Sign in to accept.</a></p>' if known else ""
    main = f"<p>{said}</p>\n{wrong}\n{other}{_OR.join(offers)}"
    return _FRAME.format(head="", title="Welcome to Forky", main=main)


def again_page(name: str, offers: list[str], sentence: str) -> str:
    """The page on which somebody who is signed in proves once more who they are."""
    wrong = f'<p class="wrong" role="alert">{escape(sentence)}</p>\n' if sentence else ""
    said = (
        f"You are signed in as <bdi>{escape(name)}</bdi>. What comes next changes how you get in, so show once more that "
        "it is you."
        if offers
        else "You came in by the proxy in front of this Forky, or in a way that is gone, and cannot be asked again: nothing "
        "can be added here. Whoever runs this Forky can make you a link with which you choose a password."
    )
    main = f"{wrong}<p>{said}</p>\n{_OR.join(offers)}"
    return _FRAME.format(head="", title="Is it you?", main=main)


def way_page(title: str, main: str) -> str:
    """A page of one of the ways to sign in; `main` is the HTML below its title."""
    return _FRAME.format(head="", title=title, main=main)


def sign_out_form(path: str, script: str) -> str:
    """The page that asks whether to sign this browser out."""
    main = f"""<p>This browser will be asked to sign in again, and forgets what was typed here and not sent.</p>
<form method="post" action="{path}"><button>Sign out</button></form>
<script src="{script}"></script>"""
    return _FRAME.format(head="", title="Sign out of Forky", main=main)


def entered(target: str) -> str:
    """The page that forwards the browser once the cookie is set.

    A redirect instead would count as part of the navigation from the linking site, so the strict cookie would not be
    sent.
    """
    place = escape(target)
    head = f'<meta http-equiv="refresh" content="0;url={place}">\n'
    return _FRAME.format(head=head, title="Signed in", main=f'<p><a href="{place}">Go on to Forky</a></p>')
