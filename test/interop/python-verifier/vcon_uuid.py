"""Which vCon a document calls itself (docs/formats/verdict.md, rule 2)."""

import base64
import binascii
import re

import strict_json
from event import UUID
from refusal import Refused

MOST_LAYERS = 16


def _object(data):
    try:
        value, _ = strict_json.read(data)
    except Refused:
        return {}
    return value if isinstance(value, dict) else {}


def _uuid(value):
    good = isinstance(value, str) and re.fullmatch(UUID, value, re.I | re.A)
    return value.lower() if good else None


def _is_signed(vcon):
    return isinstance(vcon.get("payload"), str) and isinstance(vcon.get("signatures"), list)


def _payload(signed):
    """The vCon under all signatures; empty if it cannot be read."""
    for _ in range(MOST_LAYERS):
        plain = signed["payload"].replace("-", "+").replace("_", "/").rstrip("=")
        try:
            inner = _object(base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True))
        except (binascii.Error, ValueError):
            return {}
        if not _is_signed(inner):
            return inner
        signed = inner
    return signed


def find(document):
    """The uuid that a document says, and the one under its signatures if they say another."""
    vcon = _object(document)
    if _is_signed(vcon):
        headers = [each.get("header") for each in vcon["signatures"] if isinstance(each, dict)]
        said = next(filter(None, (_uuid(each.get("uuid")) for each in headers if isinstance(each, dict))), None)
        inside = _uuid(_payload(vcon).get("uuid"))
        return said or inside, inside if said and said != inside else None
    if isinstance(vcon.get("ciphertext"), str) and isinstance(vcon.get("recipients"), list):
        header = vcon.get("unprotected")
        return _uuid(header.get("uuid")) if isinstance(header, dict) else None, None
    return _uuid(vcon.get("uuid")), None
