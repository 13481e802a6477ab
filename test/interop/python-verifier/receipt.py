"""Receipts of both kinds of log (docs/formats/receipts.md)."""

import re

import cbor
import cose
from cose import Sign1, is_integer
from event import UUID
from refusal import Refused, require

VDS, PROOFS, TREE_SIZE = 395, 396, -65932
INCLUSION = -1
STATEMENT_LOG, TENANCY_LOG = 1, 3
UNDERSTOOD = (1, 4, 13, 15, 16, 395)


def _malformed(condition, what):
    require(condition, "malformed", f"not a receipt: {what}")


def claims_of(protected):
    """Issuer and subject of a log, and the claimed key: at 15, else at 13."""
    claims = cose.claims_of(protected)
    text = {name: claims[label] for name, label in (("issuer", 1), ("subject", 2)) if isinstance(claims.get(label), str)}
    confirmation = claims.get(8)
    return text, confirmation.get(1) if isinstance(confirmation, dict) else None


def tenancy_of(log):
    """The only uuid in a log's subject; None if there is none, or more than one."""
    uuids = set(re.findall(UUID, log.get("subject", "")))
    return uuids.pop() if len(uuids) == 1 else None


def check_event_log(log, event):
    """An event is in the log of its tenancy, its public form in the public one."""
    tenancy = tenancy_of(log)
    good = event.tenancy != "" and tenancy is not None and (tenancy == event.tenancy) != event.is_public
    require(good, "log_mismatch", "the log is not that of the event's tenancy")


def check_pin(log, pin):
    for name, value in pin.items():
        require(log.get(name) == value, "log_mismatch", f"the log's {name} is {log.get(name)}, not {value}")


def structure_of(message):
    structure = message.protected.get(VDS)
    _malformed(is_integer(structure), "no verifiable data structure")
    return structure


class Receipt:
    """A receipt of inclusion, read; nothing is checked but its form."""

    def __init__(self, message, structure):
        self.message, self.structure = message, structure
        named = message.protected.get(VDS)
        if named != structure or not is_integer(named):
            raise Refused("malformed" if named in (1, 3) else "unsupported", f"a receipt of structure {named}")
        _malformed(message.payload is None, "the payload is not detached")
        self.log, _ = claims_of(message.protected)
        proofs = message.unprotected.get(PROOFS)
        require(not proofs or not isinstance(proofs, dict) or INCLUSION in proofs, "unsupported", "another kind of proof")
        found = proofs.get(INCLUSION) if isinstance(proofs, dict) else None
        _malformed(isinstance(found, list) and found, "no proof of inclusion")
        require(len(found) == 1, "unsupported", "several proofs")
        self.size = None
        (self._read_statement_log if structure == STATEMENT_LOG else self._read_tenancy_log)(found[0])

    def _read_statement_log(self, proof):
        proof = cbor.decode(proof) if isinstance(proof, bytes) else None
        _malformed(isinstance(proof, list) and len(proof) == 3, "the proof is not [size, index, path]")
        self.size, self.index, self.path = _integer(proof[0]), _integer(proof[1]), _path(proof[2])
        self.size_is_signed = TREE_SIZE in self.message.protected
        if self.size_is_signed:
            signed = _integer(self.message.protected[TREE_SIZE])
            require(signed == self.size, "inclusion_path_invalid", f"the log signed a tree of {signed}, not {self.size}")

    def _read_tenancy_log(self, proof):
        if isinstance(proof, dict):
            _malformed(2 in proof and len(proof) == 2, "the proof is not {1: index, 2: path}")
            self.index, self.path = _integer(proof.get(1)), _path([] if proof[2] is None else proof[2])
            return
        proof = cbor.decode(proof) if isinstance(proof, bytes) else None
        _malformed(isinstance(proof, list) and len(proof) == 2, "the proof is not [index, path]")
        self.index, self.path = _integer(proof[0]), _path(proof[1])

    def verify(self, root, keys, pin):
        """The key that signed the root."""
        key = cose.verify(self.message, root, keys, UNDERSTOOD, "log_key_not_trusted", "receipt_signature_invalid")
        check_pin(self.log, pin)
        return key


def _integer(value):
    _malformed(is_integer(value) and value >= 0, "an index or size is not an unsigned integer")
    return value


def _path(value):
    _malformed(isinstance(value, list) and len(value) <= 64, "a path is not a list of hashes")
    _malformed(all(isinstance(each, bytes) and len(each) == 32 for each in value), "a hash is not 32 bytes")
    return value


def read_any(data):
    """A receipt of whichever structure it names."""
    message = Sign1(data)
    return Receipt(message, structure_of(message))
