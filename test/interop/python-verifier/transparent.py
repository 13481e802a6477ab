"""Transparent statements (docs/formats/transparent-statement.md), and what other checks share with them."""

import hashlib
import re

import facts
import proofs
import receipt
import strict_json
import vcon_forms
import vcon_uuid
from cose import Sign1, statement_of
from event import Event
from receipt import STATEMENT_LOG, TENANCY_LOG, Receipt
from refusal import Refused, require
from statement import Statement, check_agreement
from trees import h, mmr_peak, rfc9162_root
from verdict import UNDECIDED, Findings

RECEIPTS, EVENT = 394, "event"
MOST_RECEIPTS = 16
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


def _structure_of(data):
    """The structure that a receipt names; None if it names none, or cannot be read."""
    try:
        return receipt.structure_of(Sign1(data))
    except Refused:
        return None


class TransparentStatement:
    """A transparent statement taken apart; nothing is checked."""

    def __init__(self, data):
        self.message = statement_of(data)
        attached = self.message.unprotected.get(RECEIPTS)
        attached = [] if attached is None else attached
        require(isinstance(attached, list), "malformed", "header 394 is not a list")
        require(len(attached) <= MOST_RECEIPTS, "unsupported", "too many receipts")
        self.bytes = [each if isinstance(each, bytes) else b"" for each in attached]
        self.structures = [_structure_of(each) for each in self.bytes]
        self.event = None
        if EVENT in self.message.unprotected:
            text = self.message.unprotected[EVENT]
            require(isinstance(text, str), "malformed", "the event is not text")
            self.event = Event(strict_json.unambiguous(text))
        self.other_headers = [label for label in self.message.unprotected if label not in (RECEIPTS, EVENT)]

    def receipts_of(self, structure):
        """The receipts of a structure, as they are."""
        return [data for data, named in zip(self.bytes, self.structures) if named == structure]

    def receipts_of_statement(self):
        """Those that may be meant as proof of the statement: all but those of tenancy logs."""
        return [data for data, named in zip(self.bytes, self.structures) if named != TENANCY_LOG]


def shown_by(findings, piece, attached, keys, elsewhere, prove):
    """The proofs of the receipts that verify; else those from elsewhere; else the most telling failure is noted."""
    proven, failures = [], []
    for data in attached:
        try:
            proven.append(prove(data))
        except Refused as error:
            failures.append((_telling(data, error, keys), error))
    failures.sort(key=lambda failure: failure[0])
    if not proven and not elsewhere and failures:
        findings.refusal(piece, failures.pop(0)[1])
    for _ in failures:
        findings.uncovered(piece, "explanation")
    return proven or list(elsewhere)


def _telling(data, error, keys):
    """Sorts first what a trusted log signed, then what only names its key, then what names the key of anybody else."""
    try:
        kid = Sign1(data).protected.get(4)
    except Refused:
        kid = None
    named = isinstance(kid, bytes) and any(key.goes_by(kid) for key in keys)
    return error.code != "log_mismatch", not named, error.code in UNDECIDED, str(error)


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

    Proofs that other files brought count where no receipt of its own does.
    """
    findings = Findings()
    parts = findings.attempt("statement", lambda: TransparentStatement(data))
    if parts is None:
        return findings, None, None
    signed = findings.attempt("statement", lambda: verified_statement(parts.message, trust))
    entry = parts.message.entry()
    logged = shown_by(findings, "statement_log_receipt", parts.receipts_of_statement(), trust.log_keys, entry_proofs,
                      lambda given: prove_entry(entry, Receipt(Sign1(given), STATEMENT_LOG), trust))
    if signed:
        claim_statement(findings, "statement", signed, logged)
    by_statement = findings.claims[-1]["by"] if signed else None
    _examine_event(findings, parts, by_statement, trust, list(event_proofs))
    if parts.other_headers:
        findings.uncovered("statement", "by_design", [f"header {label}" for label in parts.other_headers])
    return findings, parts, signed and signed[0]


def _examine_event(findings, parts, by_statement, trust, found):
    """`by_statement` proves the statement, and with it the record that it states."""
    event, attached = parts.event, parts.receipts_of(TENANCY_LOG)
    if event is None:
        findings.lacks("event")
        if attached:
            findings.uncovered("tenancy_log_receipt", "explanation")
        return
    found = shown_by(findings, "tenancy_log_receipt", attached, trust.log_keys, found,
                     lambda given: prove_event(event, Receipt(Sign1(given), TENANCY_LOG), trust))
    log_issuers = [proof["log"].get("issuer") for proof in found]
    states_record = findings.attempt("event", lambda: check_agreement(event, Statement(parts.message), *log_issuers))
    if found and states_record is not None:
        claim_event(findings, "event", event, found, by_statement if states_record and by_statement else ())
        placed = next((proof for proof in found if "leaf_index" in proof), found[0])
        proofs.open_place(findings, "tenancy_log_receipt", placed)
    elif not attached and not found:
        findings.lacks("tenancy_log_receipt")
        findings.uncovered("event", "unproven")


def document_facts(document, about):
    """Facts of a document that proven facts are about. Raises Refused."""
    if "payload_hash" not in about:
        own = hashlib.sha256(document).hexdigest()
        require(own == about["payload_sha256"], "payload_hash_mismatch", "the document is not the payload of the statement")
        return {"vcon": about.get("vcon"), "form": "raw", "payload_hash": own, "payload_hash_alg": "SHA-256"}
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
    about = [claim for claim in findings.claims if claim["kind"] in ("statement", "event")
             and not claim["facts"].keys().isdisjoint(("payload_hash", "payload_sha256"))]
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
