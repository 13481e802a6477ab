"""Massif files with their seals, in log order (docs/formats/massif.md)."""

import other_leaf
import proofs
import receipt
import verdict
from massif import Massif, Seal, verify_sealed
from refusal import Refused, require


class SealedMassif:
    """A massif, its seal, and the key that sealed it."""

    def __init__(self, massif, seal, key):
        self.massif, self.seal, self.key = massif, seal, key

    def holds(self, index):
        return self.massif.first <= index < min(self.massif.size, self.seal.size)

    def is_log_of(self, event):
        """Whether the event belongs into this log."""
        try:
            receipt.check_event_log(self.seal.log, event)
            return True
        except Refused:
            return False

    def find(self, event, copy):
        """The proof, or what the log has in the event's place instead: one of the two is None. Raises Refused otherwise."""
        try:
            return self.prove(event), None
        except Refused as refusal:
            other = other_leaf.other_leaf(event, self, refusal, copy)
            if other is None:
                raise
            return None, other

    def prove(self, event):
        """The proof that the event's leaf stands at the place that it names."""
        receipt.check_event_log(self.seal.log, event)
        self.massif.check_event(event, self.seal.log)
        sealed = event.index < self.seal.size
        require(sealed, "insufficient_data", "the event is in the file but not under its seal")
        return proofs.of_sealed_leaf(self.seal, self.key, event.leaf(), event.index)


def prove_log(files, keys, pin):
    """Every (massif, seal) pair of bytes, each continuing the one before it."""
    proven = []
    for massif_bytes, seal_bytes in files:
        massif = Massif(massif_bytes)
        if proven:
            massif.follows(proven[-1].massif)
        seal = Seal(seal_bytes)
        key = verify_sealed(seal, massif, keys, pin)
        if proven:
            require(_same_log(seal.log, proven[0].seal.log), "log_mismatch", "the seals are of two logs")
        proven.append(SealedMassif(massif, seal, key))
    return proven


def _same_log(log, other):
    """Whether both subjects name the same tenancy; if they name none, the issuers tell."""
    tenancy = receipt.tenancy_of(log)
    if tenancy != receipt.tenancy_of(other):
        return False
    return tenancy is not None or log.get("issuer") == other.get("issuer")


def _held(proven):
    """The proof of the newest seal, with all nodes under it."""
    newest = proven[-1]
    nodes = [node for each in proven for node in each.massif.nodes_under(newest.seal.size)]
    return proofs.of_seal(newest.seal, newest.key, nodes)


def claim_log(findings, piece, proven):
    first, last = proven[0].massif.number, proven[-1].massif.number
    facts = {"first_massif": str(first), "last_massif": str(last), "size": str(proven[-1].seal.size)}
    newest = proven[-1].seal
    findings.claim("log", piece, facts, [_held(proven)])
    # After an open fork older seals are of the generation before, and cover the copy under that name.
    older = {verdict.log_of(each.seal.log): proven[: at + 1] for at, each in enumerate(proven)}
    older.pop(verdict.log_of(newest.log))
    findings.shown += [(piece, _held(copy)) for copy in older.values()]
    findings.seals(piece, [proofs.of_seal(each.seal, each.key) for each in proven])
    headers = {f"header {label}" for each in proven for label in each.seal.message.unprotected}
    if headers:
        findings.uncovered(piece, "by_design", headers)
