from __future__ import annotations

import base64
import itertools
import random
import re
import string

import pytest

from forky_core.formats.exporting.account_numbers import cards, ibans
from forky_core.formats.exporting.private_words import private_words
from forky_core.formats.exporting.secret_shapes import TOKENS, secrets

SIGNS = {
    "w": string.ascii_letters + string.digits,
    "u": string.ascii_letters + string.digits + "_",
    "b": string.ascii_letters + string.digits + "+/",
    "l": string.ascii_letters,
    "h": string.digits + "abcdef",
    "A": string.ascii_uppercase + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "d": string.digits,
    "g": "02345679ACDEFGHJKLMNPQRSTUVWXYZ",
}
# In braces an alphabet and how many of its signs: made up at each run, so that no scanner takes this file for a leak.
EXAMPLES = {
    "OpenAI, Anthropic": [
        "sk-{w20}T3BlbkFJ{w20}",
        "sk-proj-{u74}T3BlbkFJ{u74}",
        "sk-ant-api03-{u93}AA",
        "sk-or-v1-{h64}",
    ],
    "Hugging Face": ["hf_{l34}", "api_org_{l34}"],
    "Groq": ["gsk_{w52}"],
    "xAI": ["xai-{w80}"],
    "Perplexity": ["pplx-{w48}"],
    "Replicate": ["r8_{w37}"],
    "Cerebras": ["csk-{a48}"],
    "NVIDIA": ["nvapi-{u64}"],
    "Fireworks": ["fw_{w24}"],
    "Together": ["tgp_v1_{u43}"],
    "ElevenLabs, Cursor": ["sk_{h48}", "key_{h64}"],
    "Zhipu": ["{h32}.{w16}"],
    "Voyage": ["pa-{u43}"],
    "Jina": ["jina_{u60}"],
    "Tavily": ["tvly-{w32}", "tvly-dev-{w32}"],
    "LangSmith": ["lsv2_pt_{h32}_{h10}"],
    "AWS": ["AKIA{A16}", "ASIA{A16}"],
    "AWS Bedrock": ["ABSK{b109}=", "bedrock-api-key-{b200}"],
    "Google": ["AIza{u35}", "AQ.Ab{u50}", "GOCSPX-{u28}"],
    "Google OAuth": ["ya29.{u150}", "1//0{u60}"],
    "Azure": ["{w3}8Q~{w34}"],
    "Alibaba": ["LTAI{w20}"],
    "Cloudflare": ["v1.0-{h24}-{h146}", "cfut_{w40}"],
    "Vercel, Neon": ["vercel_blob_rw_{w16}_{w30}", "napi_{w64}"],
    "Tailscale": ["tskey-auth-{w16}-{w32}"],
    "DigitalOcean": ["dop_v1_{h64}"],
    "Fly.io": ["fo1_{u43}", "fm2_{b120}"],
    "Heroku": ["HRKU-AA{u58}"],
    "Netlify": ["nfp_{w36}"],
    "Supabase": ["sbp_{h40}", "sb_secret_{u31}"],
    "Databricks": ["dapi{h32}", "dapi{h32}-2"],
    "PlanetScale": ["pscale_tkn_{u43}"],
    "OpenShift": ["sha256~{u43}"],
    "GitHub": ["ghp_{w36}", "gho_{w36}", "ghs_{w36}", "github_pat_{u82}"],
    "GitLab": ["glpat-{u20}", "glpat-{u27}.01{a7}", "glrt-{u20}", "GR1348941{u20}"],
    "Sourcegraph": ["sgp_{h16}_{h40}", "sgp_local_{h40}"],
    "npm": ["npm_{w36}"],
    "PyPI": ["pypi-AgEIcHlwaS5vcmc{u70}"],
    "RubyGems": ["rubygems_{h48}"],
    "Clojars": ["CLOJARS_{a60}"],
    "Docker": ["dckr_pat_{u27}"],
    "Pulumi": ["pul-{h40}"],
    "Terraform": ["{w14}.atlasv1.{u67}"],
    "Vault": ["hvs.{u95}", "hvb.{u150}"],
    "Doppler": ["dp.pt.{w43}", "dp.st.prod.{w43}"],
    "age": ["AGE-SECRET-KEY-1{g58}"],
    "1Password": ["ops_eyJ{b400}"],
    "Grafana": ["glc_{b100}", "glsa_{w32}_{h8}"],
    "Sentry": ["sntryu_{h64}", "sntrys_eyJ{b120}"],
    "New Relic": ["NRAK-{A27}"],
    "Dynatrace": ["dt0c01.{A24}.{A64}"],
    "Stripe": ["sk_live_{w24}", "rk_test_{w99}", "whsec_{w32}"],
    "Square": ["sq0atp-{u22}", "sq0csp-{u43}", "EAAA{u60}"],
    "Shopify": ["shpat_{h32}"],
    "Shippo": ["shippo_live_{h40}"],
    "Slack": [
        "xoxb-{d12}-{d12}-{w24}",
        "xoxe.xoxp-1-{A163}",
        "xapp-1-{A11}-{d13}-{h64}",
        "hooks.slack.com/services/T{A10}/B{A10}/{w24}",
    ],
    "Discord": ["M{w23}.{u6}.{u27}", "discord.com/api/webhooks/{d18}/{u68}"],
    "Telegram": ["{d10}:{u35}"],
    "SendGrid": ["SG.{u22}.{u43}"],
    "Mailgun": ["key-{h32}"],
    "Mailchimp": ["{h32}-us14"],
    "Brevo": ["xkeysib-{h64}-{w16}"],
    "Twilio": ["SK{h32}"],
    "Facebook": ["EAAC{w180}"],
    "Atlassian": ["ATATT3{u186}"],
    "Notion": ["ntn_{d11}{w35}"],
    "Linear": ["lin_api_{w40}"],
    "Airtable": ["pat{w14}.{h64}"],
    "Figma": ["figd_{u40}"],
    "Postman": ["PMAK-{h24}-{h34}"],
    "Forky": ["forky-{u43}"],
    "JSON Web Token": ["eyJ{u33}.eyJ{u90}.{u43}"],
}
PEM = "-----BEGIN {}-----\n{}\n-----END {}-----"


def made(example: str, seed: int = 0) -> str:
    """The example with signs of each alphabet; it ends in a letter, as no sentence's full stop would be cut off."""
    chance = random.Random(f"{example} {seed}")
    return re.sub(
        r"\{(\w)(\d+)\}",
        lambda found: (
            "".join(chance.choices(SIGNS[found[1]], k=int(found[2]) - 1)) + "b7A3"["lhAd".find(found[1])]
        ),
        example,
    )


def found(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.value) for one in private_words(text)]


def test_every_row_has_an_example() -> None:
    assert EXAMPLES.keys() == TOKENS.keys()


def test_a_token_is_found_whole_wherever_it_stands() -> None:
    for example, seed in itertools.product(itertools.chain.from_iterable(EXAMPLES.values()), range(20)):
        token = made(example, seed)
        for around in ("{}", "use {}, please.", '{{"k":"{}"}}', "export K={}\n", "({})"):
            assert found(around.format(token)) == [("key", token)], (example, around)


def test_a_token_within_a_longer_word_is_none() -> None:
    for issuer, (example, *_) in EXAMPLES.items():
        token = made(example)
        for text in (f"re{token}", f"x-{token}"):
            assert token not in [value for _, value in found(text)], issuer


@pytest.mark.parametrize("kind", ["", "RSA ", "OPENSSH ", "ENCRYPTED ", "PGP "])
def test_a_private_key_is_found_from_its_first_line_to_its_last(kind: str) -> None:
    name = f"{kind}PRIVATE KEY{' BLOCK' if kind == 'PGP ' else ''}"
    body = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0A1B\n\n" + "\n".join(
        made("{b64}", n) for n in range(49)
    )
    key = PEM.format(name, body, name)
    assert found(f"here:\n{key}\nthanks") == [("key", key)]
    escaped = key.replace("\n", "\\n")
    assert found(f'{{"private_key": "{escaped}"}}') == [("key", escaped)]


def test_a_private_key_whose_end_is_cut_off_is_found() -> None:
    cut = PEM.format("PRIVATE KEY", "\n".join(made("{b64}", n) for n in range(5)), "").partition(
        "\n-----END"
    )[0]
    assert found(f"{cut}\n… and so on") == [("key", cut)]
    assert found("A PEM file begins with -----BEGIN PRIVATE KEY----- and a line break.") == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("mysql://root:c0rrect-horse@db:3306/app", "c0rrect-horse"),
        ("redis://:p4ssw0rdxyz@cache:6379/0", "p4ssw0rdxyz"),
        ("Server=db;Database=app;User Id=ada;Password=hunter22;", "hunter22"),
        ("Driver={ODBC Driver 18};Uid=ada;Pwd=Tr0ub4dor&3;Encrypt=yes", "Tr0ub4dor&3"),
        ("AccountName=x;AccountKey=" + made("{b86}") + "==;", made("{b86}") + "=="),
        ("aws_secret_access_key = " + made("{b40}"), made("{b40}")),
        ("Authorization: Basic YWRhOmh1bnRlcjI=", "YWRhOmh1bnRlcjI="),
        (
            "https://x.blob.core.windows.net/a?sv=2024-11-04&sig=" + made("{w43}") + "%3D",
            made("{w43}") + "%3D",
        ),
    ],
)
def test_what_is_labelled_as_a_secret_is_found(text: str, value: str) -> None:
    assert found(text) == [("key", value)]


@pytest.mark.parametrize(
    "text",
    [
        "postgres://user:password@localhost/app and mysql://root:${DB_PASSWORD}@db/app",
        "https://<user>:<password>@example.org, https://ada:your-password@example.org",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, AKIAXXXXXXXXXXXXXXXX and sk-0000000000000000000000000000",
        "hf_your_token_here, glpat-your-personal-token, xoxb-your-bot-token",
        "let a=1;password=get_password();x = password; pwd = os.getcwd();",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b, md5 d41d8cd98f00b204e9800998ecf8427e",
        "image: registry.example.org/app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "pod web-7d4b9c6f5d-x2x7k at 12:34:56.789012345, rev 2024.11.24-1+g3f78685",
        "https://example.org/2026/11/a-very-long-title-with-more-than-16-signs.html?page=2&sort=newest",
        "npm_config_registry, github_path_filter_is_not_a_token, sk-learn",
        "The basic authorization of 2024: Authorization: Basic auth is deprecated",
    ],
)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert list(secrets(text)) == []


@pytest.mark.parametrize(
    "iban",
    [
        *(
            "DE89 3704 0044 0532 0130 00",
            "DE89370400440532013000",
            "GB82 WEST 1234 5698 7654 32",
            "NL91ABNA0417164300",
        ),
        *(
            "FR14 2004 1010 0505 0001 3M02 606",
            "NO93 8601 1117 947",
            "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
        ),
        "CH93-0076-2011-6238-5295-7",
    ],
)
def test_an_account_is_found_whose_check_digits_fit(iban: str) -> None:
    assert found(f"Pay to {iban} BIC COBADEFF, by Friday.") == [("IBAN", iban)]
    changed = iban[:2] + str((int(iban[2]) + 1) % 10) + iban[3:]
    assert list(ibans(f"Pay to {changed} today")) == []


@pytest.mark.parametrize(
    "text",
    [
        "DE89 3704 0044 0532 0130 0",
        "DE89 3704 0044 0532 0130 000",
        "XX89370400440532013000",
        "IS14 and NO93 8601",
        "DE89",
    ],
)
def test_what_is_no_account_is_left_alone(text: str) -> None:
    assert list(ibans(text)) == []


@pytest.mark.parametrize(
    "card",
    [
        *(
            "4111 1111 1111 1111",
            "4111-1111-1111-1111",
            "4012888888881881",
            "5555555555554444",
            "2223003122003222",
        ),
        *(
            "378282246310005",
            "3714 496353 98431",
            "6011 1111 1111 1117",
            "3530111333300000",
            "30569309025904",
        ),
        "6212345678901232",
    ],
)
def test_a_card_is_found_whose_check_digit_fits(card: str) -> None:
    assert found(f"card: {card}, valid to 11/29") == [("card", card)]
    last = str((int(card[-1]) + 1) % 10)
    assert list(cards(f"card: {card[:-1]}{last}")) == []


@pytest.mark.parametrize(
    "text",
    [
        "at 1732451234567 ms, 1732451234567890 µs, 20261124123456",
        "ISBN 9783161484100, EAN 4006381333931",
        "message 1176543210987654321 of channel 411111111111111111",
        "0000 0000 0000 0000 and 4444444444444444",
        "id 41111111111111110, f4111111111111111, 4111111111111111.5 and a/4111111111111111",
        "row 1 4111 1111 1111 1111 1111",
        "0190f0c2-7c1a-7000-8000-411111111111",
    ],
)
def test_what_is_no_card_is_left_alone(text: str) -> None:
    assert list(cards(text)) == []


def test_no_text_takes_long() -> None:
    """Bounded patterns: these would hang a backtracking one for hours, so that finishing is the claim."""
    for piece in (
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\nAAAA",
            "A" * 64 + "\n",
            "a@",
            "0 ",
            "+1 ",
        ),
        *(
            "eyJ.",
            "sk-",
            "glpat-",
            "token=",
            "AccountKey=",
            ";pwd=",
            "://a:",
            "://:",
            "DE89 ",
            "4111 ",
            "4111-1111-",
        ),
        *("&sig=", "dp.st.", "hvs."),
    ):
        list(private_words(piece * 3_000))
    list(private_words("-----BEGIN PRIVATE KEY-----" + "A" * 100_000))


OPENERS = [
    "http://127.0.0.1:8501/s/{u22}",
    "https://forky.example/w/{h16}/s/{u22}",
    "https://forky.example/join/{u43}",
    "http://forky.example/sign-in?secret={u43}",
    "http://forky.example/sign-in?next=%2Flibrary&secret={u43}",
    "https://forky.example/sign-in/reset/open/{u43}",
    "https://forky.example/sign-in/mail/open/{u43}",
    "/present/watch/{u22}",
    "Cookie: forky_session_8501={u43}",
]


@pytest.mark.parametrize("example", OPENERS)
def test_what_opens_a_forky_is_found(example: str) -> None:
    for seed in range(20):
        address = made(example, seed)
        secret = re.split(r"[/=]", address)[-1]
        assert found(f"Here: {address}, for you.") == [("key", secret)]


DISGUISED = ["forky-{u43}", "sk-ant-api03-{u93}AA", "ghp_{w36}", "AKIA{A16}", "xoxb-{d12}-{d12}-{w24}"]
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad"


@pytest.mark.parametrize("example", DISGUISED)
def test_signs_that_nobody_sees_hide_no_token(example: str) -> None:
    for seed, sign in enumerate(ZERO_WIDTH):
        token = made(example, seed)
        for at in (2, len(token) // 2, len(token) - 2):
            hidden = f"{token[:at]}{sign}{sign}{token[at:]}"
            assert found(f"It is {hidden}.") == [("key", hidden)]
        apart = sign.join(token)
        assert found(f"It is {sign}{apart}{sign}.") == [("key", apart)]


@pytest.mark.parametrize("example", DISGUISED)
def test_a_token_that_is_broken_over_lines_is_found_whole(example: str) -> None:
    for seed in range(20):
        token = made(example, seed)
        half = len(token) // 2
        if not any(sign.isdigit() for sign in token[half:]):
            continue
        for end in ("\n", "\r\n", "\\\n    ", "\n> ", "\\n"):
            broken = f"{token[:half]}{end}{token[half:]}"
            assert found(f"export K={broken}\nand go on") == [("key", broken)], broken
        assert found(f"K={token}\nand then go on") == [("key", token)]


@pytest.mark.parametrize("example", DISGUISED)
def test_base64_hides_no_token(example: str) -> None:
    token = made(example)
    said = f"The key is {token}, keep it."
    once = base64.b64encode(said.encode()).decode()
    lines = base64.encodebytes((said * 5).encode()).decode().strip()
    url, twice = base64.urlsafe_b64encode(said.encode()).decode(), base64.b64encode(once.encode()).decode()
    for hidden in (once, once.rstrip("="), lines, url, twice):
        assert found(f"See {hidden} there") == [("key", hidden)]
    nothing = base64.b64encode(b"Nothing to see here.").decode()
    for harmless in ("forky_core/formats/exporting/redaction", nothing):
        assert found(f"See {harmless} there") == []
