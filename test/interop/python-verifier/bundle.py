"""Evidence bundles (docs/formats/bundle.md)."""

import re

import check as check_module
import event_issuer
import log_files
import massif as massif_files
import other_leaf
import proofs
import receipt
import strict_json
import transparent
import witness
from bundle_files import (INDEX, LOG_FILE, NO_EVIDENCE, OPERATION_FILES, PAGE, Index, files_of, is_page,
                          page_zip, place_of, read_zip, unreadable)
from cose import Sign1
from event import Event
from evidence import is_conversation, kind_of
from receipt import STATEMENT_LOG, TENANCY_LOG, Receipt
from refusal import Refused, require
from statement import is_template
from trees import h
from verdict import Findings

WITNESS_FILES = ("witness/seal.sth", "witness/seal.tlog-proof", "witness/event-in-seal.json")
STATEMENT, EVENT = "transparent-statement.cose", "event.json"
STATEMENT_RECEIPT = "statement-log-receipt.cose"
DRAFT, MAP = "tenancy-log-receipt.cose", "tenancy-log-receipt-map.cose"
MISMATCH = "bundle_mismatch"


def check(given, trust):
    """Findings about a bundle, and the events in it that can be read, each with its path."""
    is_part, files = is_page(given.data), files_of(given)
    folders = {place_of(path)[1] for path in files} - {None}
    unreadable(INDEX in files or folders, "it is no bundle")
    findings = Findings()
    index = None
    if INDEX in files:
        index = findings.attempt(INDEX, lambda: Index(files[INDEX]))
    else:
        findings.uncovered(INDEX, "unproven")
    if index:
        check_listing(findings, index, files, is_part)
        named = [(operation["folder"], operation["identity"]) for operation in index.operations]
    else:
        named = [(folder, None) for folder in sorted(folders)]
    check_unlisted(findings, index, files)
    findings.attempt(PAGE, lambda: compare_page(files))
    logs = prove_logs(findings, files, trust)
    for each in named:
        check_operation(findings, Operation(files, *each), logs, trust)
    name_explanations(findings, index, files)
    return findings, list(_events(files))


def _events(files):
    for path, data in files.items():
        if place_of(path)[0] == "event":
            try:
                yield path, Event(strict_json.unambiguous(data))
            except Refused:
                pass


def check_listing(findings, index, files, is_part):
    """A listed piece of evidence that is lost or changed refuses the bundle."""
    findings.uncovered(INDEX, "by_design", ["operation_count", "operations", "files"])
    folders = {operation["number"]: operation["folder"] for operation in index.operations}
    with_event = {entry.get("operation") for entry in index.files if entry["kind"] == "event"}
    for number in folders:
        if number not in with_event:
            findings.refusal(INDEX, Refused(MISMATCH, f"no event of operation {number} is listed"))
    for entry in index.files:
        path, kind = entry["path"], entry["kind"]
        place, folder = place_of(path)
        if place is None:
            findings.uncovered(path, "unproven")
        elif place != kind or folder != folders.get(entry.get("operation")):
            findings.refusal(path, Refused(MISMATCH, f"the index says that it is {kind}"))
        elif kind not in NO_EVIDENCE and is_part and path not in files:
            findings.uncovered(path, "unproven")
        elif kind not in NO_EVIDENCE and (path not in files or h(files[path]).hex() != entry["sha256"]):
            findings.refusal(path, Refused(MISMATCH, "the file is not as the index lists it"))


def check_unlisted(findings, index, files):
    """Names the files that nothing checks."""
    listed = {entry["path"] for entry in index.files} if index else set()
    for path, data in files.items():
        kind, _ = place_of(path)
        if path == INDEX or path in listed or kind in NO_EVIDENCE or (kind and not index):
            continue
        evidence = kind is not None or kind_of(data) not in ("document", "keys") or is_conversation(data)
        findings.uncovered(path, "unproven" if evidence else "explanation")


def compare_page(files):
    """The evidence that the page of a bundle shows is the bundle's."""
    if not is_page(files.get(PAGE, b"")):
        return
    try:
        embedded = read_zip(page_zip(files[PAGE]))
    except check_module.Unreadable as error:
        raise Refused("malformed", f"the page: {error}") from None
    for path, data in embedded.items():
        without_index = path == INDEX and INDEX not in files
        if place_of(path)[0] not in NO_EVIDENCE and not without_index:
            require(files.get(path) == data, MISMATCH, f"the page shows another {path}")


def name_explanations(findings, index, files):
    paths = set(files) | {entry["path"] for entry in (index.files if index else [])}
    for path in sorted(paths):
        if place_of(path)[0] in NO_EVIDENCE:
            findings.uncovered(path, "explanation")


def prove_logs(findings, files, trust):
    """The proven massifs of each log, in runs of consecutive ones."""
    halves = {}
    for path, data in files.items():
        match = re.fullmatch(LOG_FILE, path)
        if match:
            kind, number = ("massif", match[3]) if match[2] else ("seal", match[5])
            halves.setdefault((match[1], int(number)), {})[kind] = (path, data)
    runs = []
    for (tenancy, number), pair in sorted(halves.items()):
        if len(pair) != 2:
            findings.uncovered(next(iter(pair.values()))[0], "unproven")
            continue
        if not runs or runs[-1][-1][:2] != (tenancy, number - 1):
            runs.append([])
        runs[-1].append((tenancy, number, pair["massif"], pair["seal"]))
    proven = []
    for run in runs:
        proven += _prove_run(findings, run, trust)
    return proven


def _prove_run(findings, run, trust):
    tenancy, first, (path, _), _ = run[0]

    def work():
        pairs = [(massif[1], seal[1]) for _, _, massif, seal in run]
        found = log_files.prove_log(pairs, trust.log_keys, trust.tenancy_pin)
        for number, each in enumerate(found, first):
            require(each.massif.number == number, "massif_corrupt", "the file of another massif")
            require(receipt.tenancy_of(each.seal.log) == tenancy, "log_mismatch", "the path names another log")
        return found

    found = findings.attempt(path, work)
    if found:
        for each, (_, _, _, (seal_path, _)) in zip(found, run):
            findings.attempt(seal_path, lambda each=each: massif_files.check_peak_receipts(
                each.seal, each.massif, trust.log_keys, trust.tenancy_pin))
        log_files.claim_log(findings, f"log/tenant/{tenancy}", found)
    return found or []


class Operation:
    """One operation's files by their names in its folder."""

    def __init__(self, files, folder, identity):
        self.prefix, self.identity = folder + "/" if folder else "", identity
        self.files = {name: files[self.prefix + name] for name in OPERATION_FILES if self.prefix + name in files}

    def path(self, name):
        return self.prefix + name


def check_operation(findings, operation, logs, trust):
    """Checks each file by its own proof and against the others."""
    parts = _check_statement(findings, operation, trust)
    if EVENT not in operation.files:
        for name in operation.files:
            if name.endswith(".cose") or name.startswith("witness/"):
                findings.uncovered(operation.path(name), "unproven")
        return
    path = operation.path(EVENT)
    event = findings.attempt(path, lambda: Event(strict_json.unambiguous(operation.files[EVENT])))
    if event is None:
        return
    if operation.identity not in (None, event.identity):
        findings.refusal(INDEX, Refused(MISMATCH, "the index names another event"))
    _check_event(findings, operation, event, logs, trust)
    if STATEMENT not in operation.files and is_template(event.attributes):
        findings.lacks("statement")
    frozen = parts.event if parts else None
    if frozen and (frozen.members, frozen.index, frozen.idtimestamp) != (event.members, event.index, event.idtimestamp):
        findings.refusal(path, Refused(MISMATCH, "it is not the event in the transparent statement"))


def _check_statement(findings, operation, trust):
    if STATEMENT not in operation.files:
        for name in ("signed-statement.cose", "statement-log-receipt.cose"):
            if name in operation.files:
                findings.uncovered(operation.path(name), "unproven")
        return None
    found, parts, _ = transparent.examine(operation.files[STATEMENT], trust)
    findings.add(found)
    if parts is None:
        return None
    of_statement, of_event = parts.receipts_of(STATEMENT_LOG), parts.receipts_of(TENANCY_LOG)
    same = [("signed-statement.cose", [parts.message.entry()]), (STATEMENT_RECEIPT, of_statement)]
    if of_event:
        same.append((DRAFT, of_event))
    for name, expected in same:
        if name not in operation.files:
            continue
        if not expected:
            findings.uncovered(operation.path(name), "unproven")
        elif operation.files[name] not in expected:
            findings.refusal(operation.path(name), Refused(MISMATCH, "it is not the one in the transparent statement"))
    if STATEMENT_RECEIPT in operation.files and len(of_statement) > 1:
        findings.attempt(operation.path(STATEMENT_RECEIPT), lambda: transparent.prove_entry(
            parts.message.entry(), Receipt(Sign1(operation.files[STATEMENT_RECEIPT]), STATEMENT_LOG), trust))
    return parts


def _check_event(findings, operation, event, logs, trust):
    """Claims the event, if a receipt or a log file proves it."""
    path, found = operation.path(EVENT), []
    given = [name for name in (DRAFT, MAP) if name in operation.files]
    for name in given:
        def work():
            read = Receipt(Sign1(operation.files[name]), TENANCY_LOG)
            return transparent.prove_event(event, read, trust)

        proof = findings.attempt(operation.path(name), work)
        if proof:
            found.append(proof)
            proofs.open_place(findings, operation.path(name), proof)
    if len(given) == 2:
        findings.attempt(operation.path(MAP), lambda: _check_same_receipt(*(operation.files[name] for name in given)))
    for massif in logs:
        if massif.is_log_of(event) and massif.holds(event.index):
            proof, other = findings.attempt(path, lambda: massif.find(event, [massif])) or (None, None)
            if other:
                leaf = event.leaf().hex()
                known = [each for claim in findings.claims for each in claim["by"]
                         if each["type"] == "inclusion" and each["leaf"] == leaf]
                other_leaf.settle(findings, path, [other], [*found, *known])
            found += [proof] if proof else []
            break
    if found:
        transparent.claim_event(findings, path, event, found)
        if STATEMENT not in operation.files:
            event_issuer.check(findings, path, event, found[0]["log"].get("issuer"), trust)
    else:
        findings.uncovered(path, "unproven")
    _check_witness(findings, operation, event, trust)


def _check_same_receipt(draft, mapped):
    one, other = (Receipt(Sign1(data), TENANCY_LOG) for data in (draft, mapped))
    parts = [(each.message.protected_bytes, each.message.signature, each.index, each.path) for each in (one, other)]
    require(parts[0] == parts[1], MISMATCH, "the two forms of the receipt differ")


def _check_witness(findings, operation, event, trust):
    given = [operation.files.get(name) for name in WITNESS_FILES]
    there = [name for name, data in zip(WITNESS_FILES, given) if data is not None]
    if not there:
        if trust.witnesses:
            findings.lacks("witnesses")
            findings.uncovered(operation.path(EVENT), "unproven", ["witnesses"])
    elif len(there) < len(given):
        findings.uncovered(operation.path(there[0]), "unproven")
    else:
        path = operation.path(WITNESS_FILES[1])
        proof = findings.attempt(path, lambda: witness.check(event, given, trust))
        if proof and trust.witnesses:
            seal = proof.pop("seal")
            findings.claim("witnessed", operation.path(WITNESS_FILES[0]), {"size": seal["tree_size"]}, [seal, proof])
        elif proof:
            findings.lacks("witness_keys")
            findings.uncovered(path, "unproven")
