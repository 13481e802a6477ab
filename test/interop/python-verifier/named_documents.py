"""Files that other evidence names by their SHA-256 (docs/formats/verdict.md, rule 2)."""

import hashlib

import facts
import strict_json
from bundle_files import files_of, place_of
from cose import statement_of
from event import Event
from refusal import Refused
from statement import Statement
from transparent import TransparentStatement, attachments


def find(files, unreadable):
    """Makes each file a document whose hash another one names. `unreadable` is what a damaged bundle raises."""
    pieces = [each for each in files if each.kind != "document"]
    named = [(each, _digests(each, unreadable)) for each in pieces] if len(pieces) > 1 else []
    for file in pieces:
        own = hashlib.sha256(file.data).hexdigest() if file.data else None
        if any(own in digests for other, digests in named if other is not file):
            file.form, file.kind = file.kind, "document"


def _digests(file, unreadable):
    """The digests that a piece speaks of, proven or not."""
    if file.kind in ("transparent_statement", "statement", "event", "event_list"):
        return _in_piece(file.kind, file.data)
    if file.kind != "bundle":
        return set()
    try:
        contents = files_of(file)
    except (unreadable, Refused):
        return set()
    kinds = {"transparent-statement": "transparent_statement", "signed-statement": "statement", "event": "event"}
    read = [(kinds.get(place_of(path)[0]), data) for path, data in contents.items()]
    return set().union(*(_in_piece(kind, data) for kind, data in read if kind))


def _in_piece(kind, data):
    try:
        if kind == "transparent_statement":
            parts = TransparentStatement(data)
            return _stated(parts.message) | (_of_event(parts.event) if parts.event else set())
        if kind == "statement":
            return _stated(statement_of(data))
        value = strict_json.unambiguous(data)
        events = [Event(each) for each in (value["events"] if kind == "event_list" else [value])]
        return set().union(*map(_of_event, events))
    except Refused:
        return set()


def _stated(message):
    try:
        said = facts.of_statement(Statement(message), False, [])
        return {said["payload_hash"] or said["payload_sha256"]}
    except Refused:
        return set()


def _of_event(event):
    found = facts.of_event(event)
    named = {found["payload_hash"].lower()} if "payload_hash" in found else set()
    return named | {digest for _, digest in attachments(found["members"])}
