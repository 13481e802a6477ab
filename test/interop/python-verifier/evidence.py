"""What a file is, from its content: names say nothing."""

import json
import os
import re

import cbor
import keys
import manifest
import massif
import receipt
from bundle_files import is_page
from cose import statement_of
from refusal import Refused

RECEIPTS, CBOR_ARRAY = 394, 4
CONVERSATIONS = ("vcon", "uuid", "parties", "signatures", "ciphertext")
OF_DID_DOCUMENTS = {"@context", "id", "alsoKnownAs", "controller", "verificationMethod", "authentication",
                    "assertionMethod", "keyAgreement", "capabilityInvocation", "capabilityDelegation", "service"}


class File:
    """A file that was given, and what it was taken for."""

    def __init__(self, path, data=None):
        self.path, self.form = path, None  # the form of a document that other evidence names by its hash
        if data is None and os.path.isdir(path):
            self.kind, self.data = "folder", b""
            return
        if data is None:
            with open(path, "rb") as opened:
                data = opened.read()
        self.data, self.kind = data, kind_of(data)


def kind_of(data):
    if data[:1] == b"\xd2" and data[1:2] and data[1] >> 5 == CBOR_ARRAY and not _is_text(data):
        return _cose_kind(data)
    if data[:4] == b"PK\x03\x04":
        return "bundle"
    if is_page(data):
        return "bundle"
    if massif.is_massif(data):
        return "massif"
    return _json_kind(data) or ("keys" if _is_key_set(data) else "key_manifest" if _are_manifests(data) else "document")


def _are_manifests(data):
    try:
        return bool(manifest.read(data))
    except Refused:
        return False


def _is_text(data):
    try:
        return data.decode("utf-8") is not None
    except UnicodeDecodeError:
        return False


def _is_key_set(data):
    try:
        return isinstance(cbor.decode(data), list) and bool(keys.read_keys(data))
    except (Refused, ValueError):
        return False


def _cose_kind(data):
    try:
        message = statement_of(data)
    except Refused:
        return "transparent_statement"
    if message.protected.get(manifest.CONTENT_TYPE) == manifest.TYPE:
        return "key_manifest"
    if receipt.VDS in message.protected:
        return "receipt"
    if massif.PEAK_RECEIPTS in message.unprotected or _is_sealed_state(message.payload):
        return "seal"
    carries = RECEIPTS in message.unprotected or "event" in message.unprotected
    return "transparent_statement" if carries else "statement"


def _is_sealed_state(payload):
    try:
        return payload is not None and bool(massif.read_state(payload))
    except Refused:
        return False


def _json(data):
    """The value of JSON; None for anything else. Damaged letters do not make it something else."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(name):
    raise ValueError(f"{name} is no JSON")


def is_conversation(data):
    """Whether it has a member that only conversations have."""
    value = _json(data)
    return isinstance(value, dict) and any(name in value for name in CONVERSATIONS)


def _json_kind(data):
    value = _json(data)
    if not isinstance(value, dict):
        return "document" if isinstance(value, list) else None
    if any(name in value for name in CONVERSATIONS):
        return "document"
    if _is_list(value.get("events")) and set(value) <= {"events", "next_page_token"}:
        return "event_list"
    jwks, methods, did, identity = (value.get(name) for name in ("keys", "verificationMethod", "id", "identity"))
    if set(value) == {"keys"} and _is_list(jwks) and all(isinstance(each, dict) and "kty" in each for each in jwks):
        return "keys"
    is_did = isinstance(did, str) and did.startswith("did:") and set(value) <= OF_DID_DOCUMENTS
    if is_did and _is_list(methods) and all(isinstance(each, (dict, list)) for each in methods):
        return "keys"
    is_event = isinstance(identity, str) and re.match("((public)?assets/[^/]+/)?events/", identity)
    return "event" if is_event else "document"


def _is_list(value):
    return isinstance(value, list) and len(value) > 0
