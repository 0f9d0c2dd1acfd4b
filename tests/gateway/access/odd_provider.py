"""An identity provider that signs whatever a test wants said: what a real one never sends, and a hostile one would."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from joserfc import jwt
from joserfc.jwk import RSAKey


class OddProvider:
    """Whatever the code, its token endpoint answers with `claims`, signed by `key` or, if there is one, `forger`."""

    def __init__(self) -> None:
        self.issuer = ""
        self.key = new_key("first")
        self.forger: RSAKey | None = None
        """A key that is not published."""
        self.metadata: dict[str, Any] = {}
        """What differs in what it publishes about itself."""
        self.claims: dict[str, Any] = {}
        """What differs in the ID token; None leaves a claim out."""
        self.nonce = ""
        self.user_info: dict[str, Any] = {}
        """What differs at the user info endpoint."""
        self.unsigned = False
        self.token_requests: list[dict[str, str]] = []

    def document(self) -> dict[str, Any]:
        paths = ("authorization", "token", "userinfo")
        return {
            "issuer": self.issuer,
            "jwks_uri": f"{self.issuer}/jwks",
            **{f"{path}_endpoint": f"{self.issuer}/{path}" for path in paths},
            **self.metadata,
        }

    def id_token(self) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": "ada", "aud": "forky", "exp": now + 300, "iat": now}
        claims |= {"nonce": self.nonce, "name": "Ada", **self.claims}
        said = {name: value for name, value in claims.items() if value is not None}
        if self.unsigned:
            parts = [json.dumps(part).encode() for part in ({"alg": "none"}, said)]
            return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, said, self.forger or self.key)


def new_key(id: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": id})


@contextlib.contextmanager
def odd_provider() -> Iterator[OddProvider]:
    provider = OddProvider()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def _say(self, what: object) -> None:
            body = json.dumps(what).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            if self.path == "/jwks":
                self._say({"keys": [{"kty": "odd", "kid": "odd"}, provider.key.as_dict(private=False)]})
            elif self.path == "/userinfo":
                self._say({"sub": provider.claims.get("sub", "ada"), **provider.user_info})
            else:
                self._say(provider.document())

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            provider.token_requests.append({name: values[0] for name, values in form.items()})
            self._say({"access_token": "a", "token_type": "Bearer", "id_token": provider.id_token()})

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.issuer = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield provider
        server.shutdown()
        thread.join()
