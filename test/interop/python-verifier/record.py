"""The record of an asset-free event, and the statements that state one (docs/formats/asset-free-record.md)."""

import re

import canonical_json
from refusal import require
from strict_json import Integer
from trees import h

CONTENT_TYPE = "application/vnd.vcon-archivist.asset-free-event+json"
LABEL = -65933
TEXTS = ("identity", "event_type", "created_by", "origin_tenant")
MISMATCH = "event_mismatch"


def is_record_statement(statement):
    """Whether a statement is about an event's record only."""
    about_event = (statement.subject or "").startswith("events/")
    return statement.content_type == CONTENT_TYPE and statement.hash_alg == -16 and about_event


def stated(statement):
    """The record digest that a statement states; None if it states none."""
    digest = statement.payload if is_record_statement(statement) else statement.message.protected.get(LABEL)
    return digest if isinstance(digest, bytes) and len(digest) == 32 else None


def digest_of(event):
    """SHA-256 of an asset-free event's record."""
    created = event.members["created_at"]
    good = re.fullmatch("0|[1-9][0-9]*", created) and int(created) < 2**53
    require(good, MISMATCH, "created_at is not a time in Unix milliseconds")
    members = {name: event.members[name] for name in TEXTS + ("attributes", "trails")}
    text = canonical_json.text({**members, "created_at": Integer(created)})
    require(text is not None, MISMATCH, "the record has no canonical form")
    return h(text.encode("utf-8"))


def check(event, statement):
    """Whether the statement covers the event's record; a record of anything else is refused."""
    digest = stated(statement)
    if digest is None:
        return False
    require(event.is_free and "event_type" in event.members, MISMATCH, "the statement is of another kind of event")
    if is_record_statement(statement):
        require(statement.subject == event.identity, MISMATCH, "the statement is of another event")
    require(digest_of(event) == digest, MISMATCH, "a member of the record is not the one that was signed")
    return True
