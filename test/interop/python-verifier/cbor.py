"""Strict CBOR (docs/formats/cose.md): what a verifier reads, and the deterministic form that it writes."""

import math
import struct

from refusal import Refused

MOST_BYTES, MOST_DEPTH, MOST_ITEMS = 4 * 1024 * 1024, 16, 16_384
_FLOATS = {25: ">e", 26: ">f", 27: ">d"}
_SMALLEST = (24, 0x100, 0x10000, 0x100000000)


class _Reader:
    def __init__(self, data, of_others):
        self.data, self.at, self.items, self.of_others = data, 0, 0, of_others

    def fail(self, reason):
        raise Refused("malformed", f"not strict CBOR: {reason}")

    def take(self, count):
        if count > len(self.data) - self.at:
            self.fail("cut short")
        self.at += count
        return self.data[self.at - count : self.at]

    def head(self):
        initial = self.take(1)[0]
        major, info = initial >> 5, initial & 31
        if info < 24:
            return major, info
        if info > 27:
            self.fail("an indefinite or reserved length")
        if major == 7:
            return major, info
        number = int.from_bytes(self.take(1 << (info - 24)), "big")
        if number < _SMALLEST[info - 24] and not self.of_others:
            self.fail("a number or length that could be shorter")
        return major, number

    def value(self, depth):
        self.items += 1
        if depth > MOST_DEPTH or self.items > MOST_ITEMS:
            self.fail("too deep or too many values")
        major, number = self.head()
        if major == 0:
            return number
        if major == 1:
            return -1 - number
        if major == 2:
            return self.take(number)
        if major == 3:
            try:
                return self.take(number).decode("utf-8")
            except UnicodeDecodeError:
                self.fail("text that is not UTF-8")
        if major == 4:
            return [self.value(depth + 1) for _ in range(self.count(number))]
        if major == 5:
            return self.map(number, depth)
        if major == 6:
            self.fail("a tag where none is allowed")
        if number in _FLOATS and self.of_others:
            return self.float(number)
        if number not in (20, 21, 22):
            self.fail("an unknown simple value")
        return {20: False, 21: True, 22: None}[number]

    def float(self, info):
        number = struct.unpack(_FLOATS[info], self.take(1 << (info - 24)))[0]
        if not math.isfinite(number):
            self.fail("a float that is no finite number")
        return number

    def count(self, number):
        if number > len(self.data) - self.at or number > MOST_ITEMS:
            self.fail("more members than bytes")
        return number

    def map(self, number, depth):
        members = {}
        for _ in range(self.count(number)):
            key = self.value(depth + 1)
            if isinstance(key, bool) or not isinstance(key, (int, str)):
                self.fail("a map key that is neither an integer nor text")
            if key in members:
                self.fail("a map key twice")
            members[key] = self.value(depth + 1)
        return members


def decode(data, tag=None, of_others=False):
    """One value and nothing after it; with `tag`, exactly that tag (below 24) around it. Raises Refused("malformed").

    What others signed may have finite floats as values, and numbers and lengths longer than needed.
    """
    reader = _Reader(bytes(data), of_others)
    if len(data) > MOST_BYTES:
        reader.fail("too long")
    if tag is not None and reader.take(1)[0] != 6 << 5 | tag:
        reader.fail(f"tag {tag} is missing")
    value = reader.value(0)
    if reader.at != len(data):
        reader.fail("bytes after the value")
    return value


def _head(major, number):
    for info, limit in ((None, 24), (24, 1 << 8), (25, 1 << 16), (26, 1 << 32), (27, 1 << 64)):
        if number < limit:
            if info is None:
                return bytes([major << 5 | number])
            return bytes([major << 5 | info]) + number.to_bytes(1 << (info - 24), "big")
    raise ValueError("a number beyond 64 bits")


def encode(value):
    """Deterministic CBOR (RFC 8949 section 4.2.1)."""
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, str):
        raw = value.encode("utf-8")
        return _head(3, len(raw)) + raw
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(map(encode, value))
    if isinstance(value, float):
        raise Refused("malformed", "a float is compared with nothing")
    members = sorted((encode(key), encode(member)) for key, member in value.items())
    return _head(5, len(members)) + b"".join(key + member for key, member in members)
