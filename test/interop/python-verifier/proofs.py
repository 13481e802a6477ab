"""Proofs as a verdict shows them (docs/formats/verdict.md); only positions that are proven are there."""

from facts import idtimestamp_ms, rfc3339
from receipt import STATEMENT_LOG
from trees import leaf_count, mmr_nodes, rfc9162_nodes

END_OF_9999_MS = 253402300800000


class Noted(dict):
    """A proof with the hashes of the log's tree that it proves, which no verdict shows."""

    def __init__(self, members, nodes):
        super().__init__(members)
        self.nodes = nodes


def key_id(key):
    return {"thumbprint": key.thumbprint.hex(), **({} if key.kid is None else {"kid": key.kid})}


def of_signature(statement, key, trust):
    issuer = {} if statement.issuer is None else {"issuer": statement.issuer}
    return {"type": "signature", **issuer, "issuer_pinned": trust.issuer is not None, "key": key_id(key)}


def of_receipt(receipt, leaf, key):
    """Of a verified receipt of either structure."""
    proof = {"type": "inclusion", "log": receipt.log, "vds": receipt.structure, "leaf": leaf.hex(), "key": key_id(key)}
    if receipt.structure == STATEMENT_LOG:
        place = {"leaf_index": str(receipt.index), "tree_size": str(receipt.size)} if receipt.size_is_signed else {}
        nodes = rfc9162_nodes(leaf, receipt.index, receipt.size, receipt.path) if place else ()
        return Noted({**proof, "signed": "root", **place}, list(nodes))
    place = {"leaf_index": str(leaf_count(receipt.index)), "mmr_index": str(receipt.index)} if receipt.path else {}
    nodes = mmr_nodes(receipt.index, leaf, receipt.path) if place else ()
    return Noted({**proof, "signed": "peak", **place}, list(nodes))


def of_sealed_leaf(seal, key, leaf, index, nodes=()):
    proof = {"type": "inclusion", "log": seal.log, "vds": 3, "signed": "seal", "leaf": leaf.hex(),
             "leaf_index": str(leaf_count(index)), "mmr_index": str(index), **seal_times(seal), "key": key_id(key)}
    return Noted(proof, [(index, leaf), *nodes])


def seal_times(seal):
    newest = idtimestamp_ms(seal.state[4], seal.epoch)
    leaf = {"newest_leaf_at": rfc3339(newest)} if newest < END_OF_9999_MS else {}
    return {"tree_size": str(seal.size), "sealed_at": rfc3339(seal.state[3]), **leaf}


def of_seal(seal, key, nodes=()):
    return Noted({"type": "seal", "log": seal.log, "vds": 3, **seal_times(seal), "key": key_id(key)}, nodes)


def open_place(findings, piece, proof):
    """Notes where a proof leaves open where its leaf stands."""
    if "leaf_index" not in proof:
        findings.uncovered(piece, "by_design", ["leaf_index", "tree_size"] if proof["vds"] == STATEMENT_LOG else ["index"])
