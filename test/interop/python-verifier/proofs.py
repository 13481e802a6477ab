"""Proofs as a verdict shows them (docs/formats/verdict.md); only positions that are proven are there."""

from facts import idtimestamp_ms, rfc3339
from receipt import STATEMENT_LOG
from trees import leaf_count

END_OF_9999_MS = 253402300800000


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
        return {**proof, "signed": "root", **place}
    place = {"leaf_index": str(leaf_count(receipt.index)), "mmr_index": str(receipt.index)} if receipt.path else {}
    return {**proof, "signed": "peak", **place}


def of_sealed_leaf(seal, key, leaf, index):
    return {"type": "inclusion", "log": seal.log, "vds": 3, "signed": "seal", "leaf": leaf.hex(),
            "leaf_index": str(leaf_count(index)), "mmr_index": str(index), **seal_times(seal), "key": key_id(key)}


def seal_times(seal):
    newest = idtimestamp_ms(seal.state[4], seal.epoch)
    leaf = {"newest_leaf_at": rfc3339(newest)} if newest < END_OF_9999_MS else {}
    return {"tree_size": str(seal.size), "sealed_at": rfc3339(seal.state[3]), **leaf}


def of_seal(seal, key):
    return {"type": "seal", "log": seal.log, "vds": 3, **seal_times(seal), "key": key_id(key)}


def open_place(findings, piece, proof):
    """Notes where a proof leaves open where its leaf stands."""
    if "leaf_index" not in proof:
        findings.uncovered(piece, "by_design", ["leaf_index", "tree_size"] if proof["vds"] == STATEMENT_LOG else ["index"])
