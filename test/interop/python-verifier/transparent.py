"""Transparent statements (docs/formats/transparent-statement.md), and what other checks share with them."""

import hashlib
import re

import facts
import proofs
import receipt
import strict_json
import vcon_forms
import vcon_uuid
from cose import Sign1
from event import Event
from receipt import STATEMENT_LOG, TENANCY_LOG, Receipt
from refusal import Refused, require
from statement import Statement, check_agreement
from trees import h, mmr_peak, rfc9162_root
from verdict import Findings

RECEIPTS, EVENT = 394, "event"
ASSET_COMMIT, FREE_COMMIT = ("merklelog_entry", "commit"), ("merklelog_commit",)
COVERED_ASSET = {"identity", "operation", "behaviour", "tenant_identity", "timestamp_declared", "timestamp_accepted",
                 "timestamp_committed", "asset_attributes", "event_attributes", "principal_accepted", "principal_declared"}
COVERED_FREE = {"attributes", "trails", "origin_tenant"}
COVERED_BY_RECORD = {"identity", "event_type", "created_by", "created_at"}
LONGER_HASHES = {"SHA-384": hashlib.sha384, "SHA-512": hashlib.sha512}


def prove_event(event, given, trust):
    """The proof that a tenancy log's receipt is for an event."""
    require(event.index == given.index, "inclusion_path_invalid", f"the receipt is for index {given.index}")
    leaf = event.leaf()
    key = given.verify(mmr_peak(given.index, leaf, given.path)[0], trust.log_keys, trust.tenancy_pin)
    receipt.check_event_log(given.log, event)
    return proofs.of_receipt(given, leaf, key)


def prove_entry(entry, given, trust):
    """The proof that a statement log's receipt is for an entry."""
    leaf = h(b"\x00", entry)
    key = given.verify(rfc9162_root(leaf, given.index, given.size, given.path), trust.log_keys, trust.statement_pin)
    return proofs.of_receipt(given, leaf, key)


def uncovered_members(event, is_recorded):
    """Dotted names of an event's members that its leaf, or its record, does not cover."""
    covered, commit = (COVERED_FREE, FREE_COMMIT) if event.is_free else (COVERED_ASSET, ASSET_COMMIT)
    if is_recorded:
        covered = covered | COVERED_BY_RECORD
    names, value, prefix = [], event.served, ""
    for step in commit:
        names += [prefix + name for name in value if name != step and (prefix or name not in covered)]
        value, prefix = value[step], prefix + step + "."
    return names + [prefix + name for name in value if name not in ("index", "idtimestamp")]


def claim_event(findings, piece, event, by, by_record=()):
    """Claims what the proofs of an event cover, and names what they do not. `by_record` proves a record that states it."""
    if by_record:
        findings.claim("event", piece, facts.of_record(event), list(by_record))
        findings.uncovered(piece, "by_design", ["merklelog_commit"])
    findings.claim("event", piece, facts.of_event(event), by)
    members = uncovered_members(event, bool(by_record))
    if members:
        findings.uncovered(piece, "by_design", members)


class TransparentStatement:
    """A transparent statement taken apart; nothing is checked."""

    def __init__(self, data):
        self.message = Sign1(data)
        attached = self.message.unprotected.get(RECEIPTS)
        attached = [] if attached is None else attached
        good = isinstance(attached, list) and all(isinstance(each, bytes) for each in attached)
        require(good, "malformed", "header 394 is not a list of byte strings")
        self.receipts, self.bytes = {}, {}
        for each in attached:
            message = Sign1(each)
            structure = receipt.structure_of(message)
            require(structure not in self.receipts, "unsupported", f"two receipts of structure {structure}")
            self.receipts[structure], self.bytes[structure] = message, each
        known = set(self.receipts) <= {STATEMENT_LOG, TENANCY_LOG}
        require(known, "unsupported", "a receipt of an unknown structure")
        self.event = None
        if EVENT in self.message.unprotected:
            text = self.message.unprotected[EVENT]
            require(isinstance(text, str), "malformed", "the event is not text")
            self.event = Event(strict_json.unambiguous(text))
        self.other_headers = [label for label in self.message.unprotected if label not in (RECEIPTS, EVENT)]


def verified_statement(message, trust):
    """A statement whose signature holds, and the proof of that."""
    read = Statement(message)
    key = read.verify(trust)
    return read, proofs.of_signature(read, key, trust)


def claim_statement(findings, piece, signed, logged):
    """Claims what a signed statement says; `logged` are proofs that logs hold it."""
    statement, signature = signed
    findings.claim("statement", piece, facts.of_statement(statement, signature["issuer_pinned"], logged), [signature, *logged])
    if not signature["issuer_pinned"]:
        findings.lacks("issuer")
    if not logged:
        findings.lacks("statement_log_receipt")
        findings.uncovered(piece, "unproven", ["registration"])
    for proof in logged:
        proofs.open_place(findings, "statement_log_receipt", proof)


def examine(data, trust, entry_proofs=(), event_proofs=()):
    """Findings about a transparent statement; its parts, and the statement if its signature holds.

    Proofs that other files brought count where it has no receipt of its own.
    """
    findings = Findings()
    parts = findings.attempt("statement", lambda: TransparentStatement(data))
    if parts is None:
        return findings, None, None
    signed = findings.attempt("statement", lambda: verified_statement(parts.message, trust))
    logged = list(entry_proofs)
    if STATEMENT_LOG in parts.receipts:
        entry = parts.message.entry()
        proof = findings.attempt(
            "statement_log_receipt",
            lambda: prove_entry(entry, Receipt(parts.receipts[STATEMENT_LOG], STATEMENT_LOG), trust))
        logged = [proof] if proof else []
    if signed:
        claim_statement(findings, "statement", signed, logged)
    by_statement = findings.claims[-1]["by"] if signed else None
    _examine_event(findings, parts, by_statement, trust, list(event_proofs))
    if parts.other_headers:
        findings.uncovered("statement", "by_design", [f"header {label}" for label in parts.other_headers])
    return findings, parts, signed and signed[0]


def _examine_event(findings, parts, by_statement, trust, found):
    """`by_statement` proves the statement, and with it the record that it states."""
    event, message = parts.event, parts.receipts.get(TENANCY_LOG)
    if event is None:
        findings.lacks("event")
        if message is not None:
            findings.uncovered("tenancy_log_receipt", "unproven")
        return
    if message is not None:
        work = lambda: prove_event(event, Receipt(message, TENANCY_LOG), trust)  # noqa: E731
        proof = findings.attempt("tenancy_log_receipt", work)
        found = [proof] if proof else []
    log_issuer = found[0]["log"].get("issuer") if found else None
    states_record = findings.attempt("event", lambda: check_agreement(event, Statement(parts.message), log_issuer))
    if found and states_record is not None:
        claim_event(findings, "event", event, found, by_statement if states_record and by_statement else ())
        placed = next((proof for proof in found if "leaf_index" in proof), found[0])
        proofs.open_place(findings, "tenancy_log_receipt", placed)
    elif message is None and not found:
        findings.lacks("tenancy_log_receipt")
        findings.uncovered("event", "unproven")


def document_facts(document, about):
    """Facts of a document that proven facts are about. Raises Refused."""
    alg = about.get("payload_hash_alg")
    require(alg == "SHA-256" or alg in LONGER_HASHES, "unsupported", "the digest is of an unknown hash")
    expected, jcs = about["payload_hash"].lower(), about.get("payload_jcs_sha256")
    if alg in LONGER_HASHES and LONGER_HASHES[alg](document).hexdigest() == expected:
        return {"vcon": about.get("vcon"), "form": "raw", "payload_hash": expected, "payload_hash_alg": alg}
    for form, digest in vcon_forms.forms(document):
        if digest == (expected if form != "jcs" else jcs and jcs.lower()):
            return {"vcon": about.get("vcon"), "form": form, "payload_hash": digest, "payload_hash_alg": "SHA-256"}
    raise Refused("payload_hash_mismatch", "the document is not the one that the evidence is about")


def attachments(members):
    """The hash and digest of each file that the attributes of an event name as attached."""
    values = [(members or {}).get(name) for name in ("event_attributes", "asset_attributes", "attributes")]
    while values:
        value = values.pop()
        if isinstance(value, list):
            values += value
        if not isinstance(value, dict):
            continue
        values += value.values()
        name, digest = value.get("arc_blob_hash_alg"), value.get("arc_blob_hash_value")
        if isinstance(name, str) and isinstance(digest, str):
            yield re.sub("^SHA-?(?=[0-9])", "SHA-", name.upper()), digest.lower()


def attachment_facts(document, members):
    """The facts about a file, if the attributes of a proven event name it as attached; else None."""
    for alg, digest in attachments(members):
        hashed = {**LONGER_HASHES, "SHA-256": hashlib.sha256}.get(alg)
        if hashed and hashed(document).hexdigest() == digest:
            return {"form": "raw", "payload_hash": digest, "payload_hash_alg": alg}
    return None


def attached(findings, document):
    """Facts of a file that is attached to one of the proven events; None if it is to none."""
    events = [claim["facts"] for claim in findings.claims if claim["kind"] == "event"]
    return next(filter(None, (attachment_facts(document, facts.get("members")) for facts in events)), None)


def _claim_document(findings, piece, document, found):
    """Claims a document with the facts of the vCon that it calls itself, if any of the facts are of that one."""
    said, inside = vcon_uuid.find(document)
    own = [facts for facts in found if said and (facts["vcon"] or "").lower() == said]
    facts = (own or found)[0]
    findings.claim("document", piece, facts, [])
    other = inside if own else said
    if other and facts["vcon"]:
        findings.uncovered(piece, "unproven", ["uuid"])


def check_documents(findings, documents):
    """Claims each document that a claim is about."""
    about = [claim for claim in findings.claims if claim["kind"] in ("statement", "event") and "payload_hash" in claim["facts"]]
    is_given = False
    for piece, document in documents:
        found, refusals = [], []
        for claim in about:
            try:
                found.append(document_facts(document, claim["facts"]))
            except Refused as error:
                refusals.append(error)
        attachment = None if found else attached(findings, document)
        is_given = is_given or attachment is None
        if found:
            _claim_document(findings, piece, document, found)
        elif attachment:
            findings.claim("document", piece, attachment, [])
        elif refusals:
            mismatches = [error for error in refusals if error.code == "payload_hash_mismatch"]
            findings.refusal(piece, (mismatches or refusals)[0])
        else:
            findings.uncovered(piece, "unproven")
    if not is_given and any(claim["kind"] == "statement" for claim in findings.claims):
        findings.lacks("document")
