"""Facts of covered bytes only (docs/formats/verdict.md)."""

import hashlib
import re
from datetime import datetime, timedelta

import record
from statement import HASHES, is_tenancy_of

EPOCH_START_MS = 2**40 - 1
HASH_NAMES = {number: name for name, (number, _) in HASHES.items()}
TEMPLATE = {"operation": "vcon_operation", "subject": "subject", "payload_hash": "payload",
            "payload_hash_alg": "payload_hash_alg", "payload_jcs_sha256": "payload_jcs_sha256",
            "payload_content_type": "payload_preimage_content_type", "payload_location": "payload_location"}


def rfc3339(unix_ms):
    """Milliseconds since 1970 as a text."""
    time = datetime(1970, 1, 1) + timedelta(milliseconds=unix_ms)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03d}Z"


def idtimestamp_ms(number, epoch):
    """Milliseconds since 1970 of an idtimestamp."""
    return (number >> 24) + epoch * EPOCH_START_MS


def vcon_of(subject):
    named = re.fullmatch("vcon://([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", subject, re.I | re.A) if isinstance(subject, str) else None
    return named and named[1]


def of_statement(statement, is_pinned, logged):
    """What a statement says, once its signature is checked. `logged` are proofs that logs hold it."""
    logs = [proof["log"].get("issuer") for proof in logged]
    is_own = is_pinned or any(is_tenancy_of(statement.issuer, log) for log in logs)
    meta = {name: value for name, value in statement.meta.items() if isinstance(name, str) and isinstance(value, str)}
    operation, declared, jcs = (meta.pop(name, None) for name in ("vcon_operation", "timestamp_declared", "payload_jcs_sha256"))
    is_record, stated = record.is_record_statement(statement), record.stated(statement)
    has_digest = statement.hash_alg is not None and statement.payload is not None and not is_record
    carries = statement.hash_alg is None and statement.payload is not None and not is_record
    alg = None if statement.hash_alg is None or is_record else HASH_NAMES.get(statement.hash_alg, str(statement.hash_alg))
    return {
        "issuer": statement.issuer, "tenancy": statement.tenancy if is_own else None, "operation": operation,
        "subject": statement.subject, "vcon": vcon_of(statement.subject),
        "payload_hash": statement.payload.hex() if has_digest else None,
        "payload_sha256": hashlib.sha256(statement.payload).hexdigest() if carries else None,
        "payload_hash_alg": alg, "record_hash": None if stated is None else stated.hex(),
        "payload_jcs_sha256": jcs,
        "payload_content_type": None if statement.content_type is None else str(statement.content_type),
        "payload_location": statement.location, "declared": declared, "members": meta or None,
    }


def _of_content(event):
    """What the attributes of an event say of its operation."""
    attributes = event.attributes
    texts = {fact: attributes[name] for fact, name in TEMPLATE.items() if isinstance(attributes.get(name), str)}
    return {"tenancy": event.tenancy, **texts, "vcon": vcon_of(attributes.get("subject"))}


def _of_free(event):
    """What leaf and record of an asset-free event both cover."""
    declared = event.attributes.get("timestamp_declared")
    return {"event_kind": "asset_free", **_of_content(event), "declared": declared if isinstance(declared, str) else None,
            "members": {"attributes": event.attributes, "trails": event.members["trails"]}}


def of_record(event):
    """What the record of an asset-free event covers."""
    members = event.members
    return {"identity": event.identity, "uuid": event.identity.split("/")[-1], "event_type": members["event_type"],
            "created_by": members["created_by"], "accepted": rfc3339(int(members["created_at"])), **_of_free(event)}


def of_event(event):
    """What a leaf covers of an event, once a log is proven to hold that leaf."""
    members = event.members
    committed = rfc3339(idtimestamp_ms(int(event.idtimestamp[2:], 16), 1))
    if event.is_free:
        return {**_of_free(event), "committed": committed}
    common = {**_of_content(event), "committed": committed}
    others = ("operation", "behaviour", "event_attributes", "asset_attributes", "principal_declared", "timestamp_committed")
    return {
        "identity": event.identity, "uuid": event.identity.split("/")[-1],
        "event_kind": "public" if event.is_public else "asset", **common, "principal": members["principal_accepted"],
        "declared": members["timestamp_declared"], "accepted": members["timestamp_accepted"],
        "members": {name: members[name] for name in others},
    }
