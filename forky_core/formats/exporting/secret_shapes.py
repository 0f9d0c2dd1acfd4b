r"""Finds keys, tokens and passwords in a text: by the forms that their issuers give them, and by what labels them.

`TOKENS` is a table of facts: prefix, alphabet and length of each kind of token. In November 2026 it was compared with
the rules of gitleaks (config/gitleaks.toml, MIT licence) and the plugins of detect-secrets 1.5 (Apache 2.0); some rows
are in neither. Each row has an example in tests/formats/test_secret_shapes.py.

Every pattern is bounded, so that no text takes more than linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain

from forky_core.text.disguises import Respelled

_WORD = "[A-Za-z0-9]"
_URL = "[A-Za-z0-9_-]"

TOKENS: Mapping[str, str] = {
    # Models. `sk-` is OpenAI's (sk-proj-, sk-svcacct-), Anthropic's (sk-ant-), OpenRouter's (sk-or-) and many others'.
    "OpenAI, Anthropic": rf"sk-{_URL}{{20,250}}",
    "Hugging Face": rf"hf_{_WORD}{{30,60}}|api_org_[A-Za-z]{{34}}(?!\w)",
    "Groq": rf"gsk_{_WORD}{{40,80}}",
    "xAI": rf"xai-{_WORD}{{40,120}}",
    "Perplexity": rf"pplx-{_WORD}{{40,80}}",
    "Replicate": rf"r8_{_WORD}{{37}}(?!\w)",
    "Cerebras": rf"csk-{_WORD}{{40,80}}",
    "NVIDIA": rf"nvapi-{_URL}{{60,80}}",
    "Fireworks": rf"fw_{_WORD}{{22,24}}(?!\w)",
    "Together": rf"tgp_v1_{_URL}{{43}}(?!\w)",
    "ElevenLabs, Cursor": r"(?:sk_[0-9a-f]{48}|key_[0-9a-f]{64})(?!\w)",
    "Zhipu": rf"[0-9a-f]{{32}}\.{_WORD}{{16}}(?!\w)",
    "Voyage": rf"pa-{_URL}{{43}}(?!\w)",
    "Jina": rf"jina_{_URL}{{50,80}}",
    "Tavily": rf"tvly-(?:dev-|prod-)?{_WORD}{{28,60}}",
    "LangSmith": r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}(?!\w)",
    # Clouds.
    "AWS": r"(?:A3T[0-9A-Z]|AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?!\w)",
    "AWS Bedrock": r"ABSK[A-Za-z0-9+/]{109,269}={0,2}|bedrock-api-key-[A-Za-z0-9+/]{40,4000}={0,2}",
    "Google": rf"AIza{_URL}{{35}}(?!\w)|AQ\.Ab{_URL}{{30,200}}|GOCSPX-{_URL}{{28}}(?!\w)",
    "Google OAuth": rf"ya29\.{_URL}{{20,2000}}|1//0{_URL}{{40,300}}",
    "Azure": r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?!\w)",
    "Alibaba": rf"LTAI{_WORD}{{20}}(?!\w)",
    "Cloudflare": rf"v1\.0-[0-9a-f]{{24}}-[0-9a-f]{{146}}(?!\w)|cf(?:ut|at|k)_{_WORD}{{40,60}}",
    "Vercel, Neon": rf"vercel_blob_rw_{_WORD}{{16}}_{_WORD}{{24,40}}|napi_{_WORD}{{60,70}}(?!\w)",
    "Tailscale": rf"tskey-(?:auth|api|client|scim|webhook)-{_WORD}{{8,20}}-{_WORD}{{20,40}}",
    "DigitalOcean": r"do[opr]_v1_[0-9a-f]{64}(?!\w)",
    "Fly.io": rf"fo1_{_URL}{{43}}(?!\w)|fm(?:1[ar]|2)_[A-Za-z0-9+/]{{100,2000}}={{0,3}}",
    "Heroku": rf"HRKU-AA{_URL}{{58}}(?!\w)",
    "Netlify": rf"nfp_{_WORD}{{36,50}}",
    "Supabase": rf"sbp_[0-9a-f]{{40}}(?!\w)|sb_secret_{_URL}{{20,60}}",
    "Databricks": r"dapi[0-9a-f]{32}(?:-\d)?(?!\w)",
    "PlanetScale": r"pscale_(?:tkn|pw|oauth)_[\w=.-]{32,64}",
    "OpenShift": rf"sha256~{_URL}{{43}}(?!\w)",
    # Code and its packages.
    "GitHub": rf"gh[pousr]_{_WORD}{{36,255}}|github_pat_[A-Za-z0-9_]{{22,255}}",
    "GitLab": rf"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|oas)-{_URL}{{20,300}}(?:\.[0-9a-z]{{2}}[0-9a-z]{{7}})?"
    rf"|GR1348941{_URL}{{20,50}}",
    "Sourcegraph": r"sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}(?!\w)",
    "npm": rf"npm_{_WORD}{{36}}(?!\w)",
    "PyPI": rf"pypi-{_URL}{{50,1000}}",
    "RubyGems": r"rubygems_[0-9a-f]{48}(?!\w)",
    "Clojars": r"CLOJARS_[0-9a-z]{60}(?!\w)",
    "Docker": rf"dckr_[op]at_{_URL}{{20,60}}",
    "Pulumi": r"pul-[0-9a-f]{40}(?!\w)",
    "Terraform": r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}",
    "Vault": rf"hv[bs]\.{_URL}{{24,300}}",
    "Doppler": rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{1,40}}\.)?{_WORD}{{40,44}}(?!\w)",
    "age": r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}(?!\w)",
    "1Password": r"ops_eyJ[A-Za-z0-9+/]{250,4000}={0,3}",
    # What watches programs.
    "Grafana": r"glc_[A-Za-z0-9+/]{32,400}={0,3}|glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}(?!\w)",
    "Sentry": r"sntryu_[0-9a-f]{64}(?!\w)|sntrys_eyJ[A-Za-z0-9+/=_]{60,500}",
    "New Relic": r"NRAK-[0-9A-Z]{27}(?!\w)",
    "Dynatrace": r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}(?!\w)",
    # Payments and shops.
    "Stripe": rf"(?:sk|rk|pk)_(?:live|test|prod)_{_WORD}{{10,247}}|whsec_[A-Za-z0-9+/=]{{32,80}}",
    "Square": rf"sq0(?:atp-{_URL}{{22}}|csp-{_URL}{{43}})(?!\w)|EAAA{_URL}{{56,60}}(?!\w)",
    "Shopify": r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}(?!\w)",
    "Shippo": r"shippo_(?:live|test)_[0-9a-fA-F]{40}(?!\w)",
    # Messages and mail.
    "Slack": r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{20,250}"
    r"|hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,80}",
    "Discord": rf"[MNO]{_URL}{{23,27}}\.{_URL}{{6}}\.{_URL}{{27,38}}(?!\w)"
    rf"|discord(?:app)?\.com/api/webhooks/\d{{17,20}}/{_URL}{{60,80}}",
    "Telegram": rf"\d{{8,10}}:{_URL}{{35}}(?!\w)",
    "SendGrid": rf"SG\.{_URL}{{16,40}}\.{_URL}{{16,80}}",
    "Mailgun": r"key-[0-9a-f]{32}(?!\w)",
    "Mailchimp": r"[0-9a-f]{32}-us\d{1,2}(?!\w)",
    "Brevo": r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}(?!\w)",
    "Twilio": r"SK[0-9a-f]{32}(?!\w)",
    "Facebook": rf"EAA[MC]{_WORD}{{100,400}}",
    # Work.
    "Atlassian": r"ATATT3[A-Za-z0-9_=-]{100,250}",
    "Notion": rf"ntn_[0-9]{{11}}{_WORD}{{35}}(?!\w)",
    "Linear": rf"lin_(?:api|oauth)_{_WORD}{{40,64}}",
    "Airtable": rf"pat{_WORD}{{14}}\.[0-9a-f]{{64}}(?!\w)",
    "Figma": rf"fig[dou][hr]{{0,2}}_{_URL}{{40,60}}",
    "Postman": r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}(?!\w)",
    "Forky": rf"forky-{_URL}{{43}}(?!\w)",
    "JSON Web Token": rf"eyJ{_URL}{{10,4000}}\.eyJ{_URL}{{10,8000}}\.{_URL}{{10,2000}}",
}
"""By who issues it."""

_TOKEN = re.compile(rf"(?<![\w-])(?=[\w.:/+~-]{{16}})(?:{'|'.join(TOKENS.values())})", re.ASCII)
"""The second assertion keeps nearly all words of a text from being compared with every row."""
_PRIVATE_KEY = re.compile(
    r"""
      -----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
      (?: (?:[^-]|-(?!----)){1,40000}+-----END[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
        | (?:(?:\s|\\[rn]){0,8}[A-Za-z0-9+/=]{40,4000}+){1,400}+ )       # its end was cut off
    | (?<=Private-Lines:)[ ]\d{1,3}(?:\s{1,3}[A-Za-z0-9+/=]{1,64}+(?=\s)){1,400}+    # PuTTY's
    """,
    re.VERBOSE,
)
_LABELLED = re.compile(
    r"""
    (?=[BbAaSsTtPpCc_":;?&$])
    (?: \b[Bb]earer[ ]+(?P<bearer>[A-Za-z0-9._~+/-]{20,400}={0,2})
    | (?i:authorization["']?[ ]?:[ ]?["']?basic)[ ]+(?P<login>[A-Za-z0-9+/]{8,400}={0,2})
    | (?i:api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|secret|token|(?<!\w)_auth|"auth)
      \\{0,3}["']?[ ]{0,3}[=:][ ]{0,3}\\{0,3}["']?(?P<value>[A-Za-z0-9_+/.~!@$%^&*-]{12,200}={0,2})
    | ://[^\s/:@]{0,80}:(?P<password>[^\s/@:]{4,100})@
    | \bcurl\b[^\n]{0,200}?[ ](?:-u|--user)[ =]{0,2}["']?[^\s:"']{1,80}:(?P<user>[^\s"']{4,100})
    | \$(?P<hash>(?:apr1|2[aby]|[156y]|argon2id?)\$[^\s:"']{20,300})
    | (?i:cookie["']?[ ]?:[ ]?["']?[^\s=;]{1,60})=(?P<cookie>[^\s,;"']{20,4000})
    | ;[ ]?(?i:password|pwd)[ ]?=[ ]?(?P<field>[^;\s"'<>(){}$*%]{4,100})(?=[;\s"']|$)
    | [?&](?:sig|key|code|X-Amz-Signature|X-Goog-Signature)=(?P<signature>[A-Za-z0-9%+/_-]{24,600}={0,2}) )
    """,
    re.VERBOSE,
)
"""Values that are labelled as a secret: in a header, after a name, in an address, in a database's connection string."""
_OPENS = re.compile(
    rf"""
      /(?:s|join|present/(?:watch|follow)|downloads|sign-in/(?:reset|mail|address)(?:/open)?)/
      (?P<path>{_URL}{{22,64}})(?![\w-])
    | /sign-in\?(?:[\w.%=-]{{1,200}}&){{0,5}}secret=(?P<secret>{_URL}{{22,64}})(?![\w-])
    | \bforky_(?:session|oidc)_\d{{1,5}}=(?P<session>{_URL}{{22,64}})(?![\w-])
    """,
    re.VERBOSE | re.ASCII,
)
"""What opens something of a Forky: links to read, invitations, links to sign in, the cookie of a session."""
_BREAK = re.compile(
    r"(?:\\[rn]|[\r\n\x85\u2028\u2029]|\\(?=\s))(?:\\[rn]|[\s\\>|]){0,40}+(?=[A-Za-z_+/.~=-]{0,30}\d)",
    re.ASCII,
)
"""The end of a line, as it is or as JSON has it, with the marks before the next one, where that begins like the rest of
a token: with a word that has a digit in it."""
_MAY_BE = re.compile(r"[A-Za-z0-9_/+.~!@$%^&*-]{12}|://|;[ ]?[Pp]|-----BEGIN")
_PLACEHOLDER = re.compile(
    r"[$<{%*\[]|(?i:your|my|the|change|example|pass(?:word)?\b|secret\b|x{4}|sha-?\d|md5|bcrypt|argon|scrypt|base64|utf)"
    r"|[/~.\\-]|[A-Za-z]:[/\\]|.{0,90}?(?:://|\.\w+\()"
)
"""How something begins that stands in a password's place."""
_CHOSEN = re.compile(
    r"""
      (?i:passw(?:or)?[dt]|\bpwd|passphrase|contraseña|mot[ ]de[ ]passe|пароль|密码|密碼|パスワード)
      (?:\\{0,3}["']?[ ]{0,3}[=:：][ ]{0,3}|[ ]+(?:is|ist|lautet|est|es)[ ]+)\\{0,3}["'“„«`]?
      (?P<chosen>[!#-%*+.-:=?@A-Z^_a-z|~-]{6,100}+)(?![({<\[])
    """,
    re.VERBOSE,
)
"""Passwords that a person chose, which need not look random."""
_MAY_BE_CHOSEN = re.compile("(?i:passw|passp|pwd)|contraseña|mot de passe|парол|密|パスワ")
_RANDOM = frozenset(("bearer", "value", "signature", "cookie"))
"""Labelled values that are secrets only if they look random."""
_MEASURE = re.compile(r"[\d.,:/–-]+\+?-?[A-Za-z]*\W*")


def secrets(text: str) -> Iterator[tuple[str, int]]:
    """Yield each secret and where it begins; one may lie within another."""
    if not any(pattern.search(text) for pattern in (_MAY_BE, _BREAK, _MAY_BE_CHOSEN)):
        return
    yield from _broken(text)
    for match in _OPENS.finditer(text):
        kind = match.lastgroup or ""
        if _is_random(match[kind]) or match[kind].lower() != match[kind] != match[kind].upper():
            yield match[kind], match.start(kind)
    for match in _PRIVATE_KEY.finditer(text):
        yield match.group(), match.start()
    yield from _tokens(text)
    chosen = _CHOSEN.finditer(text) if _MAY_BE_CHOSEN.search(text) else ()
    for match in chain(_LABELLED.finditer(text), chosen):
        kind = match.lastgroup or ""
        value = match[kind]
        if kind == "chosen":
            value = value.rstrip(".:")
            private = _is_chosen(value)
        else:
            private = _is_random(value) if kind in _RANDOM else not _PLACEHOLDER.match(value)
        if private:
            yield value, match.start(kind)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    for match in _TOKEN.finditer(text):
        value = match.group().rstrip("-_.")
        if _is_random(value) or (_is_varied(value) and value.lower() != value != value.upper()):
            yield value, match.start()


def _broken(text: str) -> Iterator[tuple[str, int]]:
    """Yield tokens that a line ends in the middle of, as they stand in the text."""
    joined = Respelled(text, _BREAK, lambda _: "")
    for value, begins in _tokens(joined.text) if joined.changed else ():
        start, end = joined.source(begins, len(value))
        if end - start > len(value):
            yield text[start:end], start


def _is_random(value: str) -> bool:
    """Whether a value may be a secret: `sk-your-api-key-goes-here` and `token = get_access_token` are plain words."""
    return _is_varied(value) and any(c.isdigit() for c in value)


def _is_chosen(value: str) -> bool:
    """Whether a value that is labelled as a password may be one: with letters and digits, no number with its unit."""
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    return letters and digits and not _MEASURE.fullmatch(value) and not _PLACEHOLDER.match(value)


def _is_varied(value: str) -> bool:
    return sum(c.isalpha() for c in value) > 2 and len(set(value)) > 6
