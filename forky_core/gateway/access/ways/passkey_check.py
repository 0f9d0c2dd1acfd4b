"""What a browser is asked about a passkey, and whether its answer proves anything (WebAuthn level 3).

The package webauthn checks signatures. Its import takes most of a second, so that all of this is called in a thread.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from forky_core.extras import needed_for
from forky_core.gateway.access.origins import Origin
from forky_core.model.errors import NotAllowed
from forky_core.team.members import Identity, Member

ISSUER = "passkey"
_NAME = "Forky"


@dataclass(frozen=True, slots=True)
class PasskeyAnswer:
    """What a browser answered, before it is checked."""

    text: str
    """All of it, as JSON."""
    id: str
    """The id of the passkey."""
    challenge: str
    """What it was asked with."""
    person: str
    """Whose passkey it says that it is, by id; "" for an answer that adds one."""


def read_answer(text: str) -> PasskeyAnswer:
    """Parse an answer. Raises NotAllowed if it is none."""
    with needed_for("A passkey", "sign-in"):
        from webauthn.helpers import (  # noqa: PLC0415 - see the module's docstring
            base64url_to_bytes,
            bytes_to_base64url,
            parse_client_data_json,
        )
        from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415

    try:
        parsed = json.loads(text)
        response = parsed["response"]
        client = parse_client_data_json(base64url_to_bytes(response["clientDataJSON"]))
        person = base64url_to_bytes(response.get("userHandle") or "").decode("utf-8")
        return PasskeyAnswer(text, str(parsed["id"]), bytes_to_base64url(client.challenge), person)
    except (ValueError, TypeError, KeyError, AttributeError, WebAuthnException) as error:
        raise NotAllowed("That is no answer of a passkey.") from error


def adding_options(challenge: str, host: str, member: Member, others: Sequence[Identity]) -> str:
    """What to ask a browser for, as JSON, so that it makes a passkey for somebody; `others` are those they have."""
    with needed_for("A passkey", "sign-in"):
        from webauthn import (  # noqa: PLC0415 - see the module's docstring
            base64url_to_bytes,
            generate_registration_options,
            options_to_json,
        )
        from webauthn.helpers.structs import (  # noqa: PLC0415
            AuthenticatorSelectionCriteria,
            PublicKeyCredentialDescriptor,
            ResidentKeyRequirement,
            UserVerificationRequirement,
        )

    options = generate_registration_options(
        rp_id=host,
        rp_name=_NAME,
        user_id=member.id.encode("ascii"),
        user_name=member.handle,
        user_display_name=member.name,
        challenge=base64url_to_bytes(challenge),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            require_resident_key=True,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[
            PublicKeyCredentialDescriptor(id=base64url_to_bytes(one.subject)) for one in others
        ],
    )
    return options_to_json(options)


def added(answer: PasskeyAnswer, address: Origin) -> Identity:
    """The identity that a new passkey is. Raises NotAllowed if the answer proves nothing."""
    with needed_for("A passkey", "sign-in"):
        from webauthn import base64url_to_bytes, verify_registration_response  # noqa: PLC0415
        from webauthn.helpers import bytes_to_base64url  # noqa: PLC0415
        from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415

    try:
        found = verify_registration_response(
            credential=answer.text,
            expected_challenge=base64url_to_bytes(answer.challenge),
            expected_rp_id=address.host,
            expected_origin=str(address),
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError) as error:
        raise NotAllowed("This passkey cannot be added.", f"{error}.") from error
    key = bytes_to_base64url(found.credential_public_key)
    return Identity(ISSUER, bytes_to_base64url(found.credential_id), _secret(key, found.sign_count))


def sign_in_options(challenge: str, host: str) -> str:
    """What to ask a browser for, as JSON, so that it offers the passkeys that it has for this host."""
    with needed_for("A passkey", "sign-in"):
        from webauthn import (  # noqa: PLC0415 - see the module's docstring
            base64url_to_bytes,
            generate_authentication_options,
            options_to_json,
        )
        from webauthn.helpers.structs import UserVerificationRequirement  # noqa: PLC0415

    options = generate_authentication_options(
        rp_id=host,
        challenge=base64url_to_bytes(challenge),
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json(options)


def proved(answer: PasskeyAnswer, address: Origin, identity: Identity) -> Identity:
    """The identity with the count of its uses renewed. Raises NotAllowed if the answer does not prove it.

    A count that does not grow means that there are two of the passkey; those that are kept in a cloud count nothing.
    """
    with needed_for("A passkey", "sign-in"):
        from webauthn import base64url_to_bytes, verify_authentication_response  # noqa: PLC0415
        from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415

    known = json.loads(identity.secret)
    try:
        found = verify_authentication_response(
            credential=answer.text,
            expected_challenge=base64url_to_bytes(answer.challenge),
            expected_rp_id=address.host,
            expected_origin=str(address),
            credential_public_key=base64url_to_bytes(known["key"]),
            credential_current_sign_count=known["count"],
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError) as error:
        raise NotAllowed("This passkey did not prove who you are.", f"{error}.") from error
    return Identity(ISSUER, identity.subject, _secret(known["key"], found.new_sign_count))


def _secret(key: str, count: int) -> str:
    return json.dumps({"key": key, "count": count})
