"""Signed statements, and their agreement with events (docs/formats/statement.md)."""

import base64
import binascii
import re
import urllib.parse

import cbor
import cose
import record
from cose import is_integer, statement_of
from event import UUID
from refusal import Refused, require

UNDERSTOOD = (1, 3, 4, 13, 15, 16, 33, 34, 258, 259, 260, -6800, -6801, -6802, -6804)
HASHES = {"SHA-256": (-16, 32), "SHA-384": (-43, 48), "SHA-512": (-44, 64)}
META = ("arc_display_type", "conserver_link", "conserver_link_name", "conserver_link_version", "timestamp_declared",
        "vcon_operation", "vcon_draft_version", "scitt_draft_version", "payload_jcs_sha256")
TENANCY_ISSUER = re.compile(rf"did:web:[^:\s]+(?::[^:\s]+)*:archivist:v1:didweb:({UUID})")
UNTRUSTED = "issuer_key_not_trusted"
MISMATCH = "event_mismatch"


def _malformed(condition, what):
    require(condition, "malformed", f"not a statement: {what}")


def hash_rules(name):
    """COSE number and digest length of a hash's name."""
    if not isinstance(name, str):
        return None
    return HASHES.get(re.sub(r"^SHA-?(?=\d)", "SHA-", name.upper()))


class Statement:
    """A statement, read; nothing is checked but its form."""

    def __init__(self, message):
        self.message, protected = message, message.protected
        for label in (258, 259, 260):
            _malformed(label not in message.unprotected, f"header {label} is unprotected")
        if 258 in protected:
            _malformed(3 not in protected and 3 not in message.unprotected, "a hash envelope with a content type")
        claims = cose.claims_of(protected)
        self.issuer = claims.get(1) if isinstance(claims.get(1), str) else None
        self.subject = claims.get(2) if isinstance(claims.get(2), str) else None
        kid = protected.get(cose.KID)
        self.kid = kid if isinstance(kid, bytes) else None
        self.hash_alg = self._either(258, -6800)
        _malformed(self.hash_alg is None or is_integer(self.hash_alg), "the hash algorithm is not a number")
        content_type, location = self._either(259, -6802), self._either(260, -6801)
        self.content_type = content_type if isinstance(content_type, str) or is_integer(content_type) else None
        self.location = location if isinstance(location, str) and location else None
        meta = protected.get(-6804)
        self.meta = meta if isinstance(meta, dict) else {}
        self.payload = message.payload

    def _either(self, final, draft):
        absent = object()
        first = self.message.protected.get(final, absent)
        second = self.message.protected.get(draft, absent)
        if first is not absent and second is not absent:
            same = type(first) is type(second) and first == second and not isinstance(first, (float, bytes, list, dict))
            _malformed(same, f"headers {final} and {draft} contradict each other")
        for value in (first, second):
            if value is not absent and value is not None:
                return value
        return None

    @property
    def tenancy(self):
        """The uuid with which the issuer's DID ends, if it is the DID of a tenancy."""
        match = TENANCY_ISSUER.fullmatch(self.issuer or "")
        return match and match[1]

    def verify(self, trust):
        """The key that signed the statement."""
        _malformed(self.payload is not None, "there is no payload")
        self._check_payload_hash()
        candidates, invalid = self._candidates(trust)
        understood = UNDERSTOOD
        key = cose.verify(self.message, self.payload, trust.issuer_keys, understood, UNTRUSTED, invalid, candidates)
        if trust.issuer is not None:
            require(self.issuer == trust.issuer, UNTRUSTED, f"issued by {self.issuer}, not by {trust.issuer}")
        return key

    def _check_payload_hash(self):
        """The payload of an envelope under the registered label is as long as a digest of its hash."""
        protected = self.message.protected
        if 258 not in protected:
            return
        length = {number: length for number, length in HASHES.values()}.get(protected[258])
        critical = protected.get(cose.CRIT)
        is_critical = isinstance(critical, list) and 258 in critical
        require(length is not None or not is_critical, "unsupported", "a critical hash algorithm is not understood")
        _malformed(length in (None, len(self.payload)), "the payload is no digest of its hash")

    def _candidates(self, trust):
        protected, unprotected = self.message.protected, self.message.unprotected
        by_certificate = 33 in protected or 33 in unprotected or 34 in protected
        named = [key for key in trust.issuer_keys if self.kid is not None and key.goes_by(self.kid)]
        if named:
            return named, "statement_signature_invalid"
        alg, any_name = protected.get(cose.ALG), self.kid is None or by_certificate
        possible = [key for key in trust.issuer_keys if (any_name or key.kid is None) and alg in key.algorithms]
        require(possible, UNTRUSTED, "the statement is not signed by any of the given keys, or it was changed")
        return possible, UNTRUSTED


def is_template(attributes):
    """Whether a service signs a statement about an event with these attributes."""
    rules, subject = hash_rules(attributes.get("payload_hash_alg")), attributes.get("subject")
    about_vcon = isinstance(subject, str) and subject.startswith("vcon://")
    return about_vcon and rules is not None and _is_digest(attributes.get("payload"), rules)


def _differs(condition, what):
    require(condition, MISMATCH, f"the event and the statement differ in {what}")


def _is_digest(text, rules):
    return isinstance(text, str) and len(text) == 2 * rules[1] and re.fullmatch("[0-9a-fA-F]*", text) is not None


def registered_entry(text):
    """The entry of a statement that an event carries in base64; None for anything else."""
    try:
        plain = text.replace("-", "+").replace("_", "/").rstrip("=")
        return statement_of(base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)).entry()
    except (Refused, binascii.Error, ValueError):
        return None


def _filled(value):
    return value if isinstance(value, str) and value else None


def service_did(url):
    """The DID under which the service at this URL issues; None for what is no URL."""
    parts = urllib.parse.urlsplit(url or "")
    if not parts.scheme or not parts.netloc:
        return None
    host = urllib.parse.quote(parts.netloc.lower(), safe="")
    path = [part for part in parts.path.split("/") if part]
    return ":".join(["did", "web", host, *path, "archivist", "v1", "didweb"])


def is_tenancy_of(issuer, log_issuer):
    """Whether an issuer is a tenancy of the service that signs its logs under this URL."""
    service = service_did(log_issuer)
    return service is not None and (issuer or "").startswith(service + ":")


def check_agreement(event, statement, *log_issuers):
    """Whether the statement states the event's record. Refuses two that are not about the same operation.

    `log_issuers` sign for the event's log.
    """
    attributes = event.attributes
    is_recorded = record.check(event, statement)
    if is_recorded:
        _differs(statement.tenancy is not None and statement.tenancy == event.tenancy, "the tenancy")
    if is_recorded and record.is_record_statement(statement):
        return True
    is_registered = "signed_statement" in attributes
    if is_registered:
        carried = attributes["signed_statement"]
        same = isinstance(carried, str) and registered_entry(carried) == statement.message.entry()
        _differs(same, "the registered statement")
    _check_envelope(attributes, statement, is_registered)
    for value, name in ((statement.content_type, "payload_preimage_content_type"), (statement.location, "payload_location")):
        expected = attributes.get(name) if isinstance(attributes.get(name), str) else None
        expected = (expected or None) if is_registered or name == "payload_location" else expected
        if not (is_registered and expected is None):
            _differs(type(value) is type(expected) and value == expected, name)
    if not is_registered or any(is_tenancy_of(statement.issuer, each) for each in log_issuers):
        _differs(statement.tenancy is not None and statement.tenancy == event.tenancy, "the tenancy")
    (_check_registered_meta if is_registered else _check_meta)(attributes, statement)
    return is_recorded


def _check_envelope(attributes, statement, optional):
    def absent(name):
        return optional and name not in attributes

    rules, payload = hash_rules(attributes.get("payload_hash_alg")), attributes.get("payload")
    same = rules is not None and rules[0] == statement.hash_alg
    _differs(same or absent("payload_hash_alg"), "the hash algorithm")
    same = rules is not None and _is_digest(payload, rules) and bytes.fromhex(payload) == statement.payload
    _differs(same or absent("payload"), "the payload")
    same = isinstance(attributes.get("subject"), str) and attributes["subject"] == statement.subject
    _differs(same or absent("subject"), "the subject")


def _check_meta(attributes, statement):
    meta = {name: attributes[name] for name in META if isinstance(attributes.get(name), str)}
    _differs(meta == {name: value for name, value in statement.meta.items() if value == attributes.get(name, 0)}
             and len(meta) == len(statement.meta), "the meta-map")


def _check_registered_meta(attributes, statement):
    for name in META:
        said = _filled(attributes.get(name))
        own = name == "arc_display_type" and said == "signed_statement" and name not in statement.meta
        _differs(said is None or own or said == statement.meta.get(name), name)
    named = _filled(attributes.get("issuer"))
    _differs(named is None or named == statement.issuer, "the issuer")
