"""What is recorded of a vCon: digests and labels, nothing that a person said.

The receiver reads the same facts from the bytes of a webhook (`plugins/`), and a test holds the two equal.
"""

import base64
import binascii
import hashlib
import json
import re

from .jcs import NoCanonicalForm, canonical

# They have no UTF-8 form. The receiver hashes U+FFFD in their place, as JavaScript does.
LONE_SURROGATES = re.compile("[\ud800-\udfff]")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
# As the plugin reads them; anything else in these members could be what a person said.
TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
VERSION = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){0,3}")
# Not the same as no version: the draft of a document without one is known.
OTHER_VERSION = "unknown"
LISTS = ("parties", "dialog", "analysis", "attachments")
# Archives sign repeatedly, but not in more layers than this.
SIGNATURE_LAYERS = 16
# The receiver's limits: a document larger than the first is measured, one larger than the others is only skimmed.
SMALL_BYTES = 256 * 1024
READABLE_BYTES = 24 * 1024 * 1024
READABLE_TOKENS = 400_000
# What a vCon with more consents, or with a consent to more purposes, says of them is not compared.
MAX_CONSENTS = 1_000
READABLE_PAYLOAD_BYTES = 4 * 1024 * 1024
READABLE_ATTACHMENTS_BYTES = 2 * 1024 * 1024


def _sha256(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def _uuid(value):
    return value.lower() if isinstance(value, str) and UUID.fullmatch(value) else None


def _time(value):
    return value if isinstance(value, str) and TIME.fullmatch(value) else None


def _version(value):
    if not isinstance(value, str) or not value:
        return None
    return value if VERSION.fullmatch(value) else OTHER_VERSION


def _not_json(name):
    raise ValueError(f"{name} is not JSON")


def _read(text):
    return json.loads(text, parse_constant=_not_json)


def _is_signed(document):
    return isinstance(document.get("payload"), str) and isinstance(document.get("signatures"), list)


def _is_encrypted(document):
    return isinstance(document.get("ciphertext"), str) and isinstance(document.get("recipients"), list)


def _consents(attachments, parties):
    """
    Digests of the attachments that give, or refuse, consent; equal each time the conserver stores them. None if they are
    too many to be compared.
    """
    consents = []
    for attachment in attachments if isinstance(attachments, list) else []:
        if not isinstance(attachment, dict):
            continue
        if "lawful_basis" not in (attachment.get("purpose"), attachment.get("type")):
            continue
        body = attachment.get("body")
        text = LONE_SURROGATES.sub("\ufffd", body) if isinstance(body, str) else json.dumps(body)
        try:
            body = _read(text)
        except (ValueError, RecursionError):
            continue
        if not isinstance(body, dict) or body.get("lawful_basis") != "consent":
            continue
        consent = {"digest": _sha256(text), "granted": _answered(attachment, body, True)}
        refused = _answered(attachment, body, False)
        if max(len(consents) + 1, len(consent["granted"]), len(refused)) > MAX_CONSENTS:
            return None
        if refused:
            consent["refused"] = refused
        consents.append({**consent, **_place(attachment.get("party"), len(parties) if isinstance(parties, list) else 0)})
    return consents


def _place(party, of):
    """The index of a consent's party and the number of parties, by which one that only moved is told from another's."""
    is_index = isinstance(party, int) and not isinstance(party, bool) and 0 <= party < of
    return {"place": {"party": party, "of": of}} if is_index else {}


def _answered(attachment, body, answer):
    """Digests of party and purpose of what this consent grants (True) or refuses (False)."""
    grants = body.get("purpose_grants")
    named = {
        _sha256(json.dumps([attachment.get("party"), grant.get("purpose")]))
        for grant in (grants if isinstance(grants, list) else [])
        if isinstance(grant, dict) and grant.get("granted") is answer
    }
    return sorted(named)


def _predecessor(document, name):
    reference = document.get(name)
    return _uuid(reference.get("uuid")) if isinstance(reference, dict) else None


def _predecessors(document):
    return {name: _predecessor(document, name) for name in ("amended", "redacted")}


def _times(document):
    return {
        "created_at": _time(document.get("created_at")),
        "updated_at": _time(document.get("updated_at")),
        "vcon": _version(document.get("vcon")),
    }


def _unwrapped(payload, layers=1):
    """The innermost payload of a signed vCon, and the document in it where it is readable JSON; None when it is neither."""
    standard = payload.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        content = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    try:
        document = _read(content.decode())
    except (ValueError, RecursionError):
        return content, None
    if not isinstance(document, dict):
        return content, None
    if _is_signed(document) and layers < SIGNATURE_LAYERS:
        return _unwrapped(document["payload"], layers + 1)
    return content, document


def _signed(document, skimmed):
    headers = (each.get("header") for each in document["signatures"] if isinstance(each, dict))
    uuids = (_uuid(header.get("uuid")) for header in headers if isinstance(header, dict))
    named = next((uuid for uuid in uuids if uuid), None)
    if skimmed:
        return {"form": "signed", "uuid": named}
    unwrapped = _unwrapped(document["payload"])
    if unwrapped is None:
        return {"form": "malformed", "uuid": named}
    content, inside = unwrapped
    uuid = named or (_uuid(inside.get("uuid")) if inside else None)
    told = {**_times(inside), **_predecessors(inside)} if inside is not None else {}
    return {"form": "signed", "uuid": uuid, "innermost": _sha256(content), **told}


def _encrypted(document):
    header = document.get("unprotected")
    return {"form": "encrypted", "uuid": _uuid(header.get("uuid")) if isinstance(header, dict) else None}


def _unsigned(document):
    uuid = _uuid(document.get("uuid"))
    lists = all(isinstance(document.get(name, []), list) for name in LISTS)
    return {"form": "unsigned" if uuid and lists else "malformed", "uuid": uuid, **_times(document)}


def _canonical_hash(document):
    try:
        text, lossy = canonical(document)
    except (NoCanonicalForm, RecursionError):
        return {}
    return {"jcs": _sha256(text), "jcs_lossy": "true" if lossy else None}


def _tokens(document):
    """The number of strings, commas and opening brackets in the document, counted up to the limit."""
    tokens, waiting = 0, [document]
    while waiting and tokens <= READABLE_TOKENS:
        value = waiting.pop()
        if isinstance(value, str):
            tokens += 1
        elif isinstance(value, (list, dict)):
            tokens += max(1, len(value))
            if isinstance(value, dict):
                tokens += len(value)
            waiting.extend(value.values() if isinstance(value, dict) else value)
    return tokens


def _is_too_much(document, size):
    if size <= SMALL_BYTES:
        return False
    payload = document.get("payload")
    signed_bytes = len(payload) if isinstance(payload, str) else 0
    return size > READABLE_BYTES or signed_bytes > READABLE_PAYLOAD_BYTES or _tokens(document) > READABLE_TOKENS


def facts_of(document, size):
    """Returns what is recorded of a document that a conserver's Redis holds; what is unknown is None or left out.

    `size` is the number of bytes of its text. A document that takes too long to read within a chain is only skimmed, as
    the receiver does it, and `skimmed` says so.
    """
    if not isinstance(document, dict):
        return {"form": "malformed", **_canonical_hash(document)}
    skimmed = _is_too_much(document, size)
    if _is_signed(document):
        facts = _signed(document, skimmed)
    elif _is_encrypted(document):
        facts = _encrypted(document)
    else:
        facts = _unsigned(document)
    facts = {**_predecessors(document), **facts}
    attachments = document.get("attachments")
    # A signed or an encrypted vCon shows no consents, which does not mean that there are none.
    if facts["form"] == "unsigned" and not (skimmed and len(json.dumps(attachments)) > READABLE_ATTACHMENTS_BYTES):
        # The receiver does not read the parties of a document that it skims.
        consents = _consents(attachments, None if skimmed else document.get("parties"))
        if consents is not None:
            facts["consents"] = json.dumps(consents)
    if skimmed:
        facts["skimmed"] = "true"
    elif facts["form"] != "encrypted" and "innermost" not in facts:
        facts.update(_canonical_hash(document))
    return facts
