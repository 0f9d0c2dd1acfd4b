"""Draws an address as a QR code for phones, without a service that would learn the address."""

from __future__ import annotations

from forky_core.process.extras import needed_for


def qr_uri(address: str) -> str:
    """Return the code as a picture in a `data:` address; dark on white in both themes, so that cameras can read it.

    Raises:
        NotInstalled: the package that draws it is missing.
    """
    with needed_for("A QR code", "app"):
        import segno  # noqa: PLC0415 - only where a code is shown
    return str(
        segno.make_qr(address, error="m").svg_data_uri(border=3, dark="#111", light="#fff", omitsize=True)
    )
