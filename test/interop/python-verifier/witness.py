"""What witnesses cosigned of an event's log (docs/formats/witness.md)."""

import base64
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

import proofs
import receipt
import strict_json
from keys import has_small_order
from massif import Seal
from refusal import Refused, require
from trees import h, height, mmr_nodes, mmr_peak, peaks, rfc9162_nodes, rfc9162_root

_HASH = r"[A-Za-z0-9+/]{43}="
_NUMBER = r"(?:0|[1-9][0-9]{0,18})"
PATH = "inclusion_path_invalid"


class Witness:
    """A witness's key, from `name+id+base64`."""

    def __init__(self, vkey):
        self.name, key_id, encoded = re.fullmatch(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)", vkey).groups()
        raw = base64.b64decode(encoded)
        assert len(raw) == 33 and raw[0] == 4, "not the key of a witness"
        self.public, self.key_id = raw[1:], bytes.fromhex(key_id)
        assert h(self.name.encode(), b"\n", raw)[:4] == self.key_id, "the id of another key"


def _cosigned(text, lines, witness):
    """Whether the witness cosigned the text; a line of it that does not fit is refused."""
    for name, raw in lines:
        if name != witness.name or raw[:4] != witness.key_id:
            continue
        bad = Refused("checkpoint_signature_invalid", f"the cosignature of {name} does not fit")
        if len(raw) != 76:
            raise bad
        time = int.from_bytes(raw[4:12], "big")
        if has_small_order(witness.public) or has_small_order(raw[12:44]):
            raise bad
        try:
            message = f"cosignature/v1\ntime {time}\n{text}".encode()
            Ed25519PublicKey.from_public_bytes(witness.public).verify(raw[12:], message)
        except (InvalidSignature, ValueError):
            raise bad from None
        return True
    return False


def _malformed(condition, what):
    require(condition, "malformed", what)


def _read_note(note):
    _malformed(all(each == "\n" or each >= " " for each in note), "a note has control characters")
    end = note.rfind("\n\n")
    _malformed(end >= 0 and note.endswith("\n"), "not a signed note")
    lines = []
    for line in note[end + 2 : -1].split("\n"):
        match = re.fullmatch(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})", line)
        _malformed(match, "a signature line is not one")
        try:
            raw = base64.b64decode(match[2], validate=True)
        except ValueError:
            raw = b""
        _malformed(base64.b64encode(raw).decode() == match[2], "a signature is not base64")
        _malformed(len(raw) >= 5, "a signature is too short")
        lines.append((match[1], raw))
    _malformed(len(lines) <= 100, "too many signatures")
    return note[: end + 1], lines


def _read_proof(data):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("malformed", "a tlog-proof is not UTF-8") from None
    head, blank, note = text.partition("\n\n")
    lines = head.split("\n")
    _malformed(blank and lines.pop(0) == "c2sp.org/tlog-proof@v1", "not a tlog-proof")
    if lines and lines[0].startswith("extra "):
        lines.pop(0)
    match = re.fullmatch(f"index ({_NUMBER})", lines.pop(0) if lines else "")
    _malformed(match and len(lines) <= 63 and all(re.fullmatch(_HASH, line) for line in lines), "a tlog-proof is cut")
    return int(match[1]), [base64.b64decode(line) for line in lines], note


def _hashes(value):
    good = isinstance(value, list) and len(value) <= 64
    good = good and all(isinstance(each, str) and re.fullmatch("[0-9a-f]{64}", each) and len(each) == 64 for each in value)
    _malformed(good, "event-in-seal.json has no lists of hashes")
    return [bytes.fromhex(each) for each in value]


def check(event, files, trust):
    """The proofs by the checkpoint that covers the event, and by the seal that it covers, and who cosigned it."""
    seal_bytes, proof, inclusion = files
    inclusion = strict_json.unambiguous(inclusion)
    _malformed(isinstance(inclusion, dict), "event-in-seal.json is not an object")
    path, log_peaks = _hashes(inclusion.get("path")), _hashes(inclusion.get("peaks"))
    seal = Seal(seal_bytes)
    key = seal.verify(log_peaks, trust.log_keys, trust.tenancy_pin)
    receipt.check_event_log(seal.log, event)
    require(event.index < seal.size and height(event.index) == 0, PATH, "the sealed log has no such leaf")
    root, index = mmr_peak(event.index, event.leaf(), path)
    known = dict(zip(peaks(seal.size), log_peaks))
    require(known.get(index) == root, PATH, "the path does not lead to a peak of the seal")
    entry, entry_path, note = _read_proof(proof)
    text, lines = _read_note(note)
    origin, size, root = (text.split("\n") + ["", "", ""])[:3]
    good = origin and re.fullmatch(_NUMBER, size) and re.fullmatch(_HASH, root)
    _malformed(good, "not a checkpoint")
    if trust.witnessed_log is not None:
        require(origin == trust.witnessed_log, "log_mismatch", "the checkpoint is of another log")
    reached = rfc9162_root(h(b"\x00", seal_bytes), entry, int(size), entry_path)
    require(reached == base64.b64decode(root), PATH, "the checkpoint does not cover the seal")
    distinct = {witness.public: witness for witness in reversed(trust.witnesses)}
    names = [w.name for w in trust.witnesses if distinct[w.public] is w and _cosigned(text, lines, w)]
    require(len(names) >= (trust.quorum if trust.witnesses else 0), "witness_quorum_missing", f"cosigned by {len(names)} of the given witnesses")
    sealed = [*mmr_nodes(event.index, event.leaf(), path), *known.items()]
    return proofs.Noted(
        {"type": "witness", "origin": origin, "tree_size": size, "leaf_index": str(entry), "witnesses": names,
         "seal": proofs.of_sealed_leaf(seal, key, event.leaf(), event.index, sealed)},
        list(rfc9162_nodes(h(b"\x00", seal_bytes), entry, int(size), entry_path)) if names else [])
