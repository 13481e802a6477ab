"""What evidence proves under a key manifest (docs/formats/key-manifest.md)."""

import json
import re
from datetime import datetime, timezone
from urllib.parse import unquote

import bundle_files
import check
import manifest
from refusal import Refused
from statement import service_did
from verdict import UUID, Findings

MANIFEST_COPY = re.compile(r"keys/key-manifest(-\d+)?\.cbor")
ABOUT_A_LEAF = ("statement", "entry", "event")


def sources(files):
    """The bytes of every key manifest in the evidence."""
    for each in files:
        if each.kind == "key_manifest":
            yield each.data
        elif each.kind in ("bundle", "folder"):
            yield from (data for path, data in bundle_files.files_of(each).items() if MANIFEST_COPY.fullmatch(path))


def judge(files, trust):
    """Findings about the files with the keys of the newest manifest that the root key vouches for."""
    given = list(sources(files))
    if not given:
        raise check.Unreadable("the evidence contains no key manifest")
    findings = Findings()
    newest = findings.attempt("key manifest", lambda: manifest.newest(given, trust.root))
    if newest is None:
        return findings
    findings = check.check_files(files, trust.under(newest))
    Judge(findings, newest).judge()
    findings.one_history()
    return findings


def _first_name(name):
    """The name that a log had before it was forked openly."""
    found = re.fullmatch(rf"((?:tenant|log)/{UUID})(\.[1-9][0-9]*)?", name or "")
    return found[1] if found else name


def _is_within(did, other):
    """Whether a DID is another one or below it, in whatever spelling of the same document."""
    def parts(text):
        host, *path = [unquote(part) for part in text.split(":")[2:]]
        return [host.lower(), *path]

    if not did or not (did.startswith("did:web:") and other.startswith("did:web:")):
        return did is not None and (did == other or did.startswith(other + ":"))
    outer = parts(other)
    return parts(did)[: len(outer)] == outer


def _role_of(proof):
    if proof["type"] == "signature":
        return "issuer"
    return "statement_receipt" if proof["type"] == "inclusion" and proof["vds"] == 1 else "seal"


def _in_statement_log(proof):
    return proof["type"] == "inclusion" and proof["vds"] == 1 and "tree_size" in proof


def _in_tenancy_log(proof):
    return proof["type"] == "inclusion" and proof["vds"] == 3


class Judge:
    """Takes away from the findings what does not count under a manifest."""

    def __init__(self, findings, newest):
        self.findings, self.manifest = findings, newest

    def judge(self):
        claims, self.findings.claims = self.findings.claims, []
        self.trusted = [claim for claim in claims if not any(map(self._is_misuse, claim["by"]))]
        counting = [proof for claim in claims for proof in claim["by"]
                    if proof["type"] == "inclusion" and not self._is_misuse(proof) and self._counts([proof])]
        for claim in claims:
            refused = any(map(self._is_misuse, claim["by"])) or not self._counts(claim["by"])
            if claim["kind"] in ABOUT_A_LEAF and refused:
                self._replace(claim, counting)
            if self._misused(claim):
                continue
            if self._counts(claim["by"]) and not self._is_otherwise_witnessed(claim):
                self.findings.claims.append(claim)
            else:
                self.findings.uncovered(claim["piece"], "unproven")
        self._drop_unfounded_documents()
        self.findings.shown = [(piece, proof) for piece, proof in self.findings.shown if not self._is_revoked(proof)]
        self._name_order()
        self.findings.lacks("later_manifests")

    def _is_misuse(self, proof):
        """Whether a key signed for another role, or a key of others in the deployment's name."""
        if "key" not in proof:
            return False
        listed = self.manifest.listed(proof)
        return listed.role != _role_of(proof) if listed else self._is_own(proof)

    def _replace(self, claim, counting):
        """Gives a claim proofs that count for those that do not."""
        by = _replaced(claim["by"], counting)
        if any(proof not in by for proof in claim["by"]):
            self.findings.uncovered(claim["piece"], "explanation")
        claim["by"] = by

    def _misused(self, claim):
        """Notes such a key."""
        for proof in filter(self._is_misuse, claim["by"]):
            role = _role_of(proof)
            code = "issuer_key_not_trusted" if role == "issuer" else "log_key_not_trusted"
            self.findings.refusal(claim["piece"], Refused(code, "not a key of the deployment for this role"))
            return True
        return False

    def _is_own(self, proof):
        if proof["type"] == "signature":
            return _is_within(proof.get("issuer"), self.manifest.issuer)
        log = proof["log"]
        named = _first_name(log.get("subject")) in self.manifest.logs
        return named or _is_within(service_did(log.get("issuer")), self.manifest.issuer)

    def _is_revoked(self, proof):
        listed = self.manifest.listed(proof)
        return listed is not None and listed.is_revoked

    def _counts(self, by):
        """Whether all of these proofs are by keys that are not revoked, or older than the revocation."""
        return all(self._is_older(by, self.manifest.listed(proof).sizes) for proof in by if self._is_revoked(proof))

    def _is_older(self, by, sizes):
        for proof in filter(_in_statement_log, by):
            listed, size = self.manifest.listed(proof), sizes.get(proof["log"].get("subject"))
            if size is not None and listed and not listed.is_revoked and int(proof["tree_size"]) <= size:
                return True
        return self._has_older_leaf(by, sizes)

    def _has_older_leaf(self, by, sizes):
        """Whether a leaf is under a seal whose entry witnesses cosigned when the statement logs were no larger."""
        def seen(proof):
            return (proof["type"] == "witness" and proof["witnesses"] and proof["origin"] in sizes
                    and int(proof["tree_size"]) <= sizes[proof["origin"]])

        older = {(proof["leaf"], place) for claim in self.trusted if any(map(seen, claim["by"]))
                 for proof in filter(_in_tenancy_log, claim["by"]) for place in (proof.get("mmr_index"), None)}
        return any((proof["leaf"], proof.get("mmr_index")) in older for proof in filter(_in_tenancy_log, by))

    def _is_otherwise_witnessed(self, claim):
        """Whether witnesses cosigned a log that is not the deployment's."""
        return claim["kind"] == "witnessed" and any(
            proof["type"] == "witness" and _first_name(proof["origin"]) not in self.manifest.logs for proof in claim["by"])

    def _drop_unfounded_documents(self):
        kept = self.findings.claims
        said = json.dumps([claim["facts"] for claim in kept if claim["kind"] in ("statement", "event")]).lower()
        for claim in [each for each in kept if each["kind"] == "document"]:
            if claim["facts"]["payload_hash"] not in said:
                kept.remove(claim)
                self.findings.uncovered(claim["piece"], "unproven")

    def _name_order(self):
        """Says what is older than manifest 1, and what has no order."""
        for claim in self.findings.claims:
            order = self._order_of(claim)
            if order:
                self.findings.lacks(order)

    def _order_of(self, claim):
        first = {name: log["first_size"] for name, log in self.manifest.logs.items()}
        orders = []
        for proof in filter(_in_statement_log, claim["by"]):
            name = proof["log"].get("subject")
            size = first.get(_first_name(name))
            if size is not None and "leaf_index" in proof:
                below = int(proof["leaf_index"]) < size
                orders.append(("older" if name == _first_name(name) else "forked") if below else "newer")
        in_tenancy_log = any(map(_in_tenancy_log, claim["by"]))
        if "older" in orders or self._has_older_leaf(claim["by"], first):
            return "key_history"
        committed = claim["facts"].get("committed")
        if committed and _ms(committed) < self.manifest.first_made:
            return "key_history"
        if not orders:
            return "order" if in_tenancy_log else None
        return None if "newer" in orders else "order"


def _ms(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc).timestamp() * 1000


def _replaced(by, counting):
    """The proofs, each inclusion replaced by those that count for the same leaf in the same place."""
    found = []
    for proof in by:
        others = [other for other in counting if proof["type"] == "inclusion" and _is_same_leaf(proof, other)]
        found += [each for each in others or [proof] if each not in found]
    return found


def _is_same_leaf(one, other):
    here, there = one.get("mmr_index"), other.get("mmr_index")
    same = (one["vds"], one["leaf"]) == (other["vds"], other["leaf"])
    return same and (here is None or there is None or here == there)
