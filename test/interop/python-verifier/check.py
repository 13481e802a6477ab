"""One verdict about the files that were given together."""

import event_issuer
import facts
import log_files
import other_leaf
import proofs
import receipt
import strict_json
import transparent
from cose import Sign1, statement_of
from event import Event
from massif import Seal
from receipt import STATEMENT_LOG, Receipt
from refusal import Refused, require
from trees import h
from verdict import Findings


class Unreadable(Exception):
    """The files make no check."""


class Given:
    """A statement's entry or an event that was given as a file, and what the other files proved of it."""

    def __init__(self, piece, value, has_own=False):
        self.piece, self.value, self.proofs, self.others = piece, value, [], []
        self.has_own, self.good = has_own, True  # whether a receipt for it is beside it; whether nothing differs from it


def check_files(files, trust):
    """Findings about everything that was given. Raises Unreadable when it makes no check."""
    import bundle  # it uses the checks of the modules above
    import named_documents

    named_documents.find(files, Unreadable)

    def of(*kinds):
        return [each for each in files if each.kind in kinds]

    documents = [(each.path, each.data) for each in of("document")]
    bundles = of("bundle", "folder")
    if not bundles and not of("transparent_statement", "statement", "receipt", "seal", "massif", "event", "event_list"):
        raise Unreadable("no evidence among the files")
    findings = Findings()
    carried, stated = _carried(of("transparent_statement"))
    loose = {path: each for path, each in stated.items() if not each.has_own}
    entries = _read(findings, of("statement"), lambda data: [statement_of(data)])
    events = _read(findings, of("event", "event_list"), _events)
    for each in of("receipt"):
        _match(findings, each, [*entries, *carried.values()], [*events, *stated.values()], trust)
    _check_log(findings, of("massif"), of("seal"), [*events, *loose.values()], trust)
    spoken = []  # entries whose signature was checked
    for each in of("transparent_statement"):
        elsewhere = [given[each.path].proofs if each.path in given else [] for given in (carried, stated)]
        found, parts, signed = transparent.examine(each.data, trust, *elsewhere)
        findings.add(found)
        if signed:
            spoken.append(parts.message.entry())
    shown = {id(proof) for claim in findings.claims for proof in claim["by"]}
    for path, given in carried.items():
        if any(id(proof) not in shown for proof in given.proofs):
            findings.claim("entry", path, {}, given.proofs)
    for path, given in stated.items():
        if given.has_own and any(id(proof) not in shown for proof in given.proofs):
            findings.claim("event", path, facts.of_event(given.value), given.proofs)
    bundled = []
    for each in bundles:
        found, inside = bundle.check(each, trust)
        findings.add(found)
        bundled += [Given(f"{each.path}/{path}", event) for path, event in inside]
    _compare(findings, [*stated.values(), *bundled, *events])
    claims = list(findings.claims)
    for given in entries:
        if _check_statement(findings, given, trust):
            spoken.append(given.value.entry())
    for given in loose.values():
        _settle(findings, given)
    for given in events:
        if _check_event(findings, given) and not _is_among(claims, given.value):
            event_issuer.check(findings, given.piece, given.value, given.proofs[0]["log"].get("issuer"), trust, spoken)
    _name_others(findings, files, documents)
    transparent.check_documents(findings, documents)
    return findings


def _name_others(findings, files, documents):
    """Names the files that were not checked for what they are."""
    may_be_meant = not documents and any("payload_hash" in claim["facts"] for claim in findings.claims)
    for each in files:
        if each.kind == "keys":
            findings.uncovered(each.path, "unproven" if may_be_meant else "explanation")
        elif each.kind == "key_manifest" or each.form:
            findings.uncovered(each.path, "explanation")


def _read(findings, files, read):
    given = []
    for each in files:
        values = findings.attempt(each.path, lambda: read(each.data))
        given += [Given(each.path, value) for value in values or []]
    return given


def _carried(files):
    """The statements of transparent statements, and the events in them, by the names of the files."""
    entries, events = {}, {}
    for each in files:
        try:
            parts = transparent.TransparentStatement(each.data)
        except Refused:
            continue
        entries[each.path] = Given(each.path, parts.message)
        if parts.event is not None:
            events[each.path] = Given(each.path, parts.event, bool(parts.receipts_of(receipt.TENANCY_LOG)))
    return entries, events


def _events(data):
    value = strict_json.unambiguous(data)
    return [Event(each) for each in (value["events"] if "events" in value else [value])]


def _match(findings, file, entries, events, trust):
    """Adds a receipt's proof to what it is for."""
    message = findings.attempt(file.path, lambda: Sign1(file.data))
    structure = message and findings.attempt(file.path, lambda: receipt.structure_of(message))
    if structure is None:
        return
    is_entry = structure == STATEMENT_LOG
    given = findings.attempt(file.path, lambda: Receipt(message, STATEMENT_LOG if is_entry else receipt.TENANCY_LOG))
    candidates = entries if is_entry else events
    if given is None:
        return
    if not is_entry:
        there = [each for each in events if each.value.index == given.index]
        candidates = there or events
    refusal = None
    for each in candidates:
        try:
            if is_entry:
                each.proofs.append(transparent.prove_entry(each.value.entry(), given, trust))
                proof = each.proofs[-1]
            else:
                each.proofs.append(transparent.prove_event(each.value, given, trust))
                proof = each.proofs[-1]
            for copy in candidates:
                if copy is not each and _is_copy(copy.value, each.value, is_entry):
                    copy.proofs.append(proof)
            return
        except Refused as error:
            refusal = refusal or error
    if refusal:
        findings.refusal(file.path, refusal)
    else:
        findings.lacks("statement" if is_entry else "event")
        findings.uncovered(file.path, "unproven")


def _is_copy(value, other, is_entry):
    """Whether both are the same statement, or the same event."""
    if is_entry:
        return value.entry() == other.entry()
    return (value.members, value.index, value.idtimestamp) == (other.members, other.index, other.idtimestamp)


def _compare(findings, events):
    """Refuses each event that differs from an earlier one with the same identity, or that has another's leaf (rule 1)."""
    by_identity, by_leaf = {}, {}
    for given in events:
        event = given.value
        same = [by_identity.setdefault(event.identity, event)]
        if event.is_free:
            try:
                same.append(by_leaf.setdefault(event.leaf(), event))
            except Refused:
                pass
        if not all(_is_copy(each, event, False) for each in same):
            findings.refusal(given.piece, Refused("event_mismatch", "the same event differs elsewhere"))
            given.good = False


def _proofs_elsewhere(findings, leaf, kinds):
    """The claims that prove a leaf, each with the proof."""
    return [(claim, proof) for claim in findings.claims if claim["kind"] in kinds for proof in claim["by"]
            if proof["type"] == "inclusion" and proof["leaf"] == leaf.hex()]


def _check_log(findings, massifs, seals, events, trust):
    if not massifs and not seals:
        return
    if len(massifs) != len(seals):
        for each in massifs + seals:
            findings.uncovered(each.path, "unproven")
        return

    def work():
        ordered = sorted((each.data for each in massifs), key=lambda data: int.from_bytes(data[28:32], "big"))
        sealed = sorted((each.data for each in seals), key=lambda data: Seal(data).size)
        times = [Seal(data).state[3] for data in sealed]
        require(times == sorted(times), "consistency_invalid", "a seal is older than one over fewer nodes")
        return log_files.prove_log(zip(ordered, sealed), trust.log_keys, trust.tenancy_pin)

    log = findings.attempt("log", work)
    if not log:
        return
    log_files.claim_log(findings, "log", log)
    for given in events:
        holder = next((each for each in log if each.holds(given.value.index) and each.is_log_of(given.value)), None)
        if holder is None:
            continue
        found = findings.attempt(given.piece, lambda: holder.find(given.value, log))
        if found:
            (given.others if found[0] is None else given.proofs).append(found[0] or found[1])


def _is_among(claims, event):
    """Whether one of these claims is about the same leaf: that one was compared with the pin."""
    leaf = event.leaf().hex()
    return any(claim["kind"] == "event" and proof.get("leaf") == leaf for claim in claims for proof in claim["by"])


def _check_statement(findings, given, trust):
    signed = findings.attempt(given.piece, lambda: transparent.verified_statement(given.value, trust))
    if signed:
        found = _proofs_elsewhere(findings, h(b"\0", given.value.entry()), ("statement", "entry"))
        elsewhere = [proof for _, proof in found if proof["vds"] == STATEMENT_LOG and proof not in given.proofs]
        transparent.claim_statement(findings, given.piece, signed, [*given.proofs, *elsewhere])
    return signed is not None


def _settle(findings, given):
    """Whether no copy of its log refuses an event, now that all that proves it is known."""
    if not given.others:
        return True
    leaf = given.value.leaf().hex()
    elsewhere = [proof for claim in findings.claims if claim["kind"] == "event" for proof in claim["by"]
                 if proof["type"] == "inclusion" and proof["leaf"] == leaf]
    return other_leaf.settle(findings, given.piece, given.others, [*given.proofs, *elsewhere])


def _check_event(findings, given):
    """Whether the event is proven."""
    event = given.value
    leaf = findings.attempt(given.piece, event.leaf)
    if leaf is None:
        return False
    if not given.proofs:
        for claim, proof in _proofs_elsewhere(findings, leaf, ("event",))[:1]:
            if claim["facts"].get("identity", event.identity) != event.identity:
                findings.refusal(given.piece, Refused("event_mismatch", "a log holds it under another identity"))
                given.good = False
            given.proofs.append(proof)
    if not _settle(findings, given) or not given.good:
        return False
    if not given.proofs:
        findings.lacks("tenancy_log_receipt")
        findings.uncovered(given.piece, "unproven")
        return False
    transparent.claim_event(findings, given.piece, event, given.proofs)
    placed = next((proof for proof in given.proofs if "leaf_index" in proof), given.proofs[0])
    proofs.open_place(findings, given.piece, placed)
    return True
