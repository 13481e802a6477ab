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
from cose import Sign1
from refusal import Refused

RECEIPTS, CBOR_ARRAY = 394, 4
CONVERSATIONS = ("vcon", "uuid", "parties", "signatures", "ciphertext")


class File:
    """A file that was given, and what it was taken for."""

    def __init__(self, path, data=None):
        self.path = path
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
        message = Sign1(data)
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


def is_conversation(data):
    """Whether it has a member that only conversations have."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and any(name in value for name in CONVERSATIONS)


def _json_kind(data):
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return "document" if isinstance(value, list) else None
    if isinstance(value.get("events"), list):
        return "event_list"
    jwks, identity = value.get("keys"), value.get("identity")
    is_keys = isinstance(jwks, list) and all(isinstance(each, dict) and "kty" in each for each in jwks)
    if isinstance(value.get("verificationMethod"), list) or is_keys:
        return "keys"
    is_event = isinstance(identity, str) and re.match("((public)?assets/[^/]+/)?events/", identity)
    return "event" if is_event else "document"
