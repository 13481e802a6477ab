"""Massif files and seals (docs/formats/massif.md)."""

import cbor
import cose
import keys as key_files
import receipt
from cose import Sign1, is_integer
from refusal import Refused, require
from trees import bagged_root, height, leaf_count, node_of_leaf, parent, peaks

PEAK_RECEIPTS = -65931
CORRUPT = "massif_corrupt"
MOST_HEIGHT = 24
UNDERSTOOD = (1, 4, 13, 15, 16)


def is_massif(data):
    """Whether bytes begin with a start record."""
    return len(data) >= 32 and not any(data[:8]) and not any(data[16:23]) and 1 <= data[27] <= MOST_HEIGHT


class Massif:
    """A massif file whose form and hashes hold."""

    def __init__(self, data):
        require(is_massif(data), CORRUPT, "no start record")
        self.height, self.number = data[27], int.from_bytes(data[28:32], "big")
        self.epoch, self.last_id = int.from_bytes(data[23:27], "big"), data[8:16]
        leaves = 1 << (self.height - 1)
        self.first_leaf = self.number * leaves
        self.first = node_of_leaf(self.first_leaf)
        stack_at = 288 + 64 * 2 * leaves
        stack = peaks(self.first)
        nodes_at = stack_at + 32 * len(stack)
        most = 2 * leaves - 1 + _trailing_zeros(self.number + 1)
        count, rest = divmod(len(data) - nodes_at, 32)
        require(rest == 0 and 1 <= count <= most, CORRUPT, "the file has an impossible length")
        self.size = self.first + count
        require(peaks(self.size) is not None, CORRUPT, "the file ends inside a leaf's parents")
        self.leaves = leaf_count(self.size) - self.first_leaf
        self.entries = [data[288 + 64 * at : 352 + 64 * at] for at in range(self.leaves)]
        unused = data[32:288] + data[288 + 64 * self.leaves : stack_at]
        require(not any(unused), CORRUPT, "bytes where none belong")
        self._nodes = {index: data[stack_at + 32 * at : stack_at + 32 * at + 32] for at, index in enumerate(stack)}
        for at in range(count):
            self._nodes[self.first + at] = data[nodes_at + 32 * at : nodes_at + 32 * at + 32]
        self._check_ids()
        self._check_hashes()

    def _check_ids(self):
        ids = [entry[56:] for entry in self.entries]
        require(all(a < b for a, b in zip(ids, ids[1:])), CORRUPT, "the idtimestamps do not rise")
        require(ids[-1] == self.last_id, CORRUPT, "the start record names another last id")

    def _check_hashes(self):
        for index in range(self.first, self.size):
            g = height(index)
            if g > 0:
                left, right = self._nodes.get(index - (1 << g)), self._nodes.get(index - 1)
                good = left is not None and right is not None and parent(index, left, right) == self._nodes[index]
                require(good, CORRUPT, f"node {index} is not the hash of its children")

    def node(self, index):
        require(index in self._nodes, "insufficient_data", f"the file does not hold node {index}")
        return self._nodes[index]

    def nodes_under(self, size):
        """Every node that a log of this size has in the file, and the peaks before it."""
        return [(index, node) for index, node in self._nodes.items() if index < size]

    def peaks_at(self, size):
        """The log's peaks at a size that ends in this file."""
        good = self.first < size <= self.size and peaks(size) is not None
        require(good, "insufficient_data", f"the file does not reach the sealed size {size}")
        return [self.node(index) for index in peaks(size)]

    def follows(self, before):
        same = self.number == before.number + 1 and self.height == before.height and self.first == before.size
        good = same and self.entries[0][56:] > before.last_id
        good = good and [self.node(i) for i in peaks(self.first)] == before.peaks_at(before.size)
        require(good, "consistency_invalid", "a massif does not continue the one before it")

    def check_event(self, event, log):
        """The event's leaf and trie entry stand at the place that it names."""
        leaf, index = event.leaf(), event.index
        require(height(index) == 0, "leaf_mismatch", f"node {index} is not a leaf")
        require(self.first <= index < self.size, "insufficient_data", f"the file does not hold leaf {index}")
        require(self.node(index) == leaf, "leaf_mismatch", f"the log holds another leaf at node {index}")
        entry = self.entries[leaf_count(index) - self.first_leaf]
        tenancy = receipt.tenancy_of(log)
        require(tenancy is not None, "log_mismatch", "the log names no tenancy")
        good = entry == event.trie_key(tenancy) + event.extra_bytes() + event.id8
        require(good, "leaf_mismatch", "the log has the leaf under another identity")


def _trailing_zeros(number):
    return (number & -number).bit_length() - 1


def read_state(payload):
    """The state that a seal's payload holds."""
    malformed = "not a seal: "
    state = cbor.decode(payload)
    require(isinstance(state, dict), "malformed", malformed + "the state is not a map")
    require(set(state) <= {1, 3, 4, 6, 7, 8}, "malformed", malformed + "an unknown key in the state")
    numbers = {label: value for label, value in state.items() if label != 8}
    for label, value in {1: None, 3: None, 4: None, 6: None, **numbers}.items():
        require(is_integer(value) and value >= 0, "malformed", malformed + f"no integer under {label}")
    version = state.get(7, 0)
    require(version <= 2, "unsupported", f"a seal of version {version}")
    require(state[3] < 253402300800000 and state[6] < 2**53, "malformed", malformed + "an impossible number")
    return state


class Seal:
    """A published seal, read; nothing is checked but its form."""

    def __init__(self, data):
        self.message = Sign1(data)
        self.log, claimed = receipt.claims_of(self.message.protected)
        self.claimed = claimed
        malformed = "not a seal: "
        require(self.message.payload is not None, "malformed", malformed + "the state is detached")
        receipts = self.message.unprotected.get(PEAK_RECEIPTS, [])
        receipts = [] if receipts is None else receipts
        good = isinstance(receipts, list) and all(isinstance(each, bytes) for each in receipts)
        require(good, "malformed", malformed + "the peak receipts are not a list of byte strings")
        self.peak_receipts = receipts
        state = read_state(self.message.payload)
        self.written_peaks = state.pop(8, None)
        version = state.get(7, 0)
        if version == 0:
            state.pop(7, None)
        self.state, self.version = state, version
        self.size, self.id8, self.epoch = state[1], state[4].to_bytes(8, "big"), state[6]

    def verify(self, log_peaks, keys, pin):
        """Checks the seal over the log's own peaks and returns the key that signed it."""
        expected = peaks(self.size)
        good = expected is not None and len(expected) == len(log_peaks) and log_peaks
        require(good, "insufficient_data", "these are not the peaks of the sealed size")
        if self.written_peaks is not None:
            require(self.written_peaks == log_peaks, "seal_signature_invalid", "the seal carries other peaks")
        untrusted = "log_key_not_trusted"
        try:
            claimed = None if self.claimed is None else key_files.from_cose(self.claimed).thumbprint
        except key_files.UnsupportedKey:
            raise Refused("unsupported", "the seal names a key of an unknown kind") from None
        candidates = [key for key in keys if key.thumbprint == claimed]
        require(candidates, untrusted, "the seal's key is not among the given ones")
        root = {2: bagged_root(log_peaks)} if self.version == 0 else {8: log_peaks}
        signed = cbor.encode({**self.state, **root})
        key = cose.verify(self.message, signed, keys, UNDERSTOOD, untrusted, "seal_signature_invalid", candidates)
        receipt.check_pin(self.log, pin)
        return key


def check_peak_receipts(seal, massif, keys, pin):
    """The receipts that a bundle's seal carries: one for each peak, by the log, and nothing beside them."""
    others = [label for label in seal.message.unprotected if label != PEAK_RECEIPTS]
    require(not others, "unsupported", f"no signature covers the header {others}")
    if not seal.peak_receipts:
        return True
    log_peaks = massif.peaks_at(seal.size)
    require(len(seal.peak_receipts) == len(log_peaks), "malformed", "there is not one receipt for each peak")
    for data, peak in zip(seal.peak_receipts, log_peaks):
        message = Sign1(data)
        log, _ = receipt.claims_of(message.protected)
        require(receipt.structure_of(message) == receipt.TENANCY_LOG, "unsupported", "not a receipt of such a log")
        require(message.payload is None and not message.unprotected, "malformed", "more than a receipt of a peak")
        cose.verify(message, peak, keys, receipt.UNDERSTOOD, "log_key_not_trusted", "receipt_signature_invalid")
        receipt.check_pin(log, pin)
    return True


def verify_sealed(seal, massif, keys, pin):
    """Checks a seal against the massif that it ends in, and returns the key that signed it."""
    key = seal.verify(massif.peaks_at(seal.size), keys, pin)
    require(massif.epoch == seal.epoch, CORRUPT, "massif and seal have different epochs")
    entry = massif.entries[leaf_count(seal.size) - massif.first_leaf - 1]
    require(entry[56:] == seal.id8, CORRUPT, "the massif dates its last sealed leaf differently")
    return key
