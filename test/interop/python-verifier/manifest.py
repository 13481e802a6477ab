"""Key manifests (docs/formats/key-manifest.md): which keys a root key vouches for."""

import base64
import binascii
import json
import re

import cbor
import cose
import keys
from cose import Sign1, is_integer
from refusal import Refused, require
from trees import h

TYPE = "application/vcon-archivist.key-manifest+cbor"
CONTENT_TYPE, UNDERSTOOD = 3, (1, 3, 4, 15)
MOST_BYTES, MOST_MANIFESTS, MOST_TEXT = 1024 * 1024, 1000, 1024
LAST_MS, MOST_SAFE = 253402300799999, 2**53 - 1
STATES = ("pending", "active", "retired", "revoked")
LOG_KINDS = ("public_statement", "private_statement", "keys")
# algorithm: type and curve of its keys, the labels of their numbers, width of a number
KINDS = {-7: (2, 1, (-2, -3), 32), -8: (1, 6, (-2,), 32), -47: (2, 8, (-2, -3), 32), -257: (3, None, (-1, -2), None)}


def thumbprint_of(fingerprint):
    """The thumbprint that a fingerprint stands for. Raises ValueError for anything else."""
    text = re.sub(r"[\s-]", "", fingerprint).upper()
    if len(text) != 56:
        raise ValueError("a fingerprint has 56 characters")
    try:
        raw = base64.b32decode(text)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    if h(raw[:32])[:3] != raw[32:]:
        raise ValueError("the checksum of the fingerprint is wrong")
    return raw[:32]


def _form(condition, what):
    require(condition, "malformed", f"not a key manifest: {what}")


def _whole(value, least=0, most=MOST_SAFE):
    _form(is_integer(value) and least <= value <= most, f"{value} is no number of its place")
    return value


def _text(value, known=None):
    _form(isinstance(value, str) and 0 < len(value) <= MOST_TEXT, "a text is missing")
    _form(known is None or value in known, f"{value} is not known")
    return value


def _members(value, *labels):
    _form(isinstance(value, dict) and set(value) == set(labels), "a map has other members")
    return value


def _hash(value):
    _form(isinstance(value, bytes) and len(value) == 32, "a hash is not 32 bytes")
    return value


def _b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class ListedKey:
    """A key as a manifest lists it."""

    def __init__(self, value, number):
        _form(isinstance(value, dict), "a key is not a map")
        self.state = _text(value.get(3), STATES)
        ended, self.is_revoked = self.state in ("retired", "revoked"), self.state == "revoked"
        _members(value, 1, 2, 3, 4, 6, *((5,) if ended else ()), *((7,) if self.is_revoked else ()))
        self.role, self.start = _text(value[1]), _whole(value[4], most=LAST_MS)
        self.end = _whole(value[5], self.start, LAST_MS) if ended else None
        self.since = _whole(value[6], 1, number)
        self.sizes = value.get(7, {})
        _form(isinstance(self.sizes, dict), "the sizes at the revocation are no map")
        for name, size in self.sizes.items():
            _text(name)
            _whole(size, most=2**64)
        self.id, self.key = self._named(value[2])

    @staticmethod
    def _named(cose_key):
        _form(isinstance(cose_key, dict) and is_integer(cose_key.get(3)), "a key has no algorithm")
        _form(cose_key[3] in KINDS, "a key has another algorithm")
        kty, crv, labels, width = KINDS[cose_key[3]]
        _members(cose_key, 1, 2, 3, *labels, *(() if crv is None else (-1,)))
        _form(cose_key[1] == kty and crv in (None, cose_key.get(-1)), "a key has another type")
        for label in labels:
            number = cose_key[label]
            _form(isinstance(number, bytes) and number and width in (None, len(number)), "a number has another length")
        numbers = [_b64url(cose_key[label]) for label in labels]
        if cose_key[3] == -257:
            own = h(json.dumps({"e": numbers[1], "kty": "RSA", "n": numbers[0]}, separators=(",", ":")).encode())
        elif cose_key[3] == -47:
            jwk = {"crv": "secp256k1", "kty": "EC", "x": numbers[0], "y": numbers[1]}
            own = h(json.dumps(jwk, separators=(",", ":")).encode())
        else:
            own = h(cbor.encode({label: cose_key[label] for label in (1, -1, *labels)}))
        _form(cose_key[2] == own, "the id of a key is another key's")
        return own, keys.from_cose(cose_key) if cose_key[3] in (-7, -8) else None

    def goes_on_from(self, before):
        """No key goes back to an earlier state, and what was said about it stays."""
        return ((self.role, self.start, self.since) == (before.role, before.start, before.since)
                and STATES.index(self.state) >= STATES.index(before.state)
                and (before.end is None or self.end <= before.end)
                and (not before.is_revoked or self.sizes == before.sizes))

    @property
    def place(self):
        return self.role.encode("utf-16-be"), self.start, _b64url(self.id)


class Manifest:
    """A manifest, read; the signature is not checked."""

    def __init__(self, data):
        _form(len(data) <= MOST_BYTES, "it is too long")
        self.message = message = Sign1(data)
        _form(message.protected.get(CONTENT_TYPE) == TYPE, "it has another content type")
        _form(message.payload is not None, "it has no payload")
        self.bytes = message.entry()
        self._read(message.payload)
        claims = cose.claims_of(message.protected)
        self.issuer, self.log = _text(claims.get(1)), _text(claims.get(2))
        confirmation = claims.get(8)
        self.signer = _usable(confirmation.get(1) if isinstance(confirmation, dict) else None)
        _form(message.protected.get(cose.KID) == self.signer.thumbprint, "its kid is another key's")

    def _read(self, payload):
        value = cbor.decode(payload)
        _form(isinstance(value, dict), "its payload is not a map")
        require(is_integer(value.get(1)) and value[1] == 1, "unsupported", "a key manifest of another version")
        _members(value, *range(1, 9))
        _form(cbor.encode(value) == payload, "its payload is not encoded canonically")
        self.number = _whole(value[2], 1)
        self.made, self.first_made = (_whole(value[label], most=LAST_MS) for label in (3, 4))
        _form(self.first_made <= self.made, "it is older than the first")
        _form((value[5] is None) == (self.number == 1), "only the first has no predecessor")
        self.previous = None if value[5] is None else _hash(value[5])
        root = _usable(value[6])
        require(root.crv is not None, "unsupported", "a root key is an EC or Ed25519 key")
        _form(value[6] == {**root.members, 2: root.thumbprint, 3: keys.CURVES[root.crv][2]}, "the root key has another form")
        self.root = root.thumbprint
        _form(isinstance(value[7], list) and isinstance(value[8], list), "it has no keys or no logs")
        self.keys = [ListedKey(each, self.number) for each in value[7]]
        self.logs = {_text(each.get(1)): self._log(each) for each in value[8] if isinstance(each, dict)}
        self._check_lists(value)

    @staticmethod
    def _log(value):
        _members(value, *range(1, 6))
        _hash(value[4])
        size = _whole(value[3], most=2**64)
        return {"kind": _text(value[2], LOG_KINDS), "size": size, "first_size": _whole(value[5], most=size)}

    def _check_lists(self, value):
        _form(len(self.logs) == len(value[8]), "a log is listed twice, or is not a map")
        _form(len({key.id for key in self.keys}) == len(self.keys), "a key is listed twice")
        active = [key.role for key in self.keys if key.state == "active"]
        _form(len(set(active)) == len(active), "a role has two active keys")
        _form(set(active) == {key.role for key in self.keys}, "a role has no active key")
        later = any(name not in self.logs or size > self.logs[name]["size"]
                    for key in self.keys for name, size in key.sizes.items())
        _form(not later, "a key was revoked at a larger size than a log has")
        _form(self.keys == sorted(self.keys, key=lambda key: key.place), "the keys are in another order")

    def check_signature(self):
        cose.verify(self.message, self.message.payload, [self.signer], UNDERSTOOD,
                    "root_not_trusted", "manifest_signature_invalid")

    def check_follows(self, before):
        """Two manifests of one history agree, whatever is between them."""
        require(self.number > before.number, "manifest_older", f"manifest {self.number} after {before.number}")
        good = (self.log == before.log and self.first_made == before.first_made and self.made >= before.made
                and (self.number > before.number + 1 or self.previous == h(before.bytes)))
        require(good, "manifest_invalid", f"manifest {self.number} does not follow {before.number}")
        require(self._goes_on_from(before), "manifest_invalid", f"manifest {self.number} contradicts {before.number}")

    def _goes_on_from(self, before):
        """Keys and logs are never removed, and a new key says since when it is listed."""
        keys, known = {key.id: key for key in self.keys}, {key.id for key in before.keys}
        return (all(key.id in keys and keys[key.id].goes_on_from(key) for key in before.keys)
                and all(key.since > before.number for key in self.keys if key.id not in known)
                and all(name in self.logs and _is_grown(self.logs[name], log) for name, log in before.logs.items()))

    def keys_of(self, *roles):
        return [listed.key for listed in self.keys if listed.role in roles and listed.key]

    def listed(self, proof):
        """The key of a proof as it is listed; None for proofs without a key and for other keys."""
        thumbprint = proof["key"]["thumbprint"] if "key" in proof else None
        return next((key for key in self.keys if key.id.hex() == thumbprint), None)


def _is_grown(log, before):
    same = all(log[member] == before[member] for member in ("kind", "first_size"))
    return same and log["size"] >= before["size"]


def _usable(value):
    try:
        return keys.from_cose(value)
    except keys.UnsupportedKey:
        raise Refused("unsupported", "a key of another kind") from None


def read(data):
    """The manifests of a file, in rising order of their numbers."""
    if data[:1] == b"\xd2":
        return [Manifest(data)]
    values = cbor.decode(data)
    _form(isinstance(values, list) and 0 < len(values) <= MOST_MANIFESTS, "it is no list of manifests")
    _form(all(isinstance(each, bytes) for each in values), "one is not bytes")
    found = [Manifest(each) for each in values]
    numbers = [each.number for each in found]
    _form(all(one < other for one, other in zip(numbers, numbers[1:])), "their numbers do not rise")
    return found


def _chain(manifests, root):
    """The manifests of a file from the first by this root key on, each by the root key that the one before names."""
    first = next((at for at, each in enumerate(manifests) if each.signer.thumbprint == root), None)
    require(first is not None, "root_not_trusted", "no manifest is signed by the root key")
    before, chain = None, []
    for each in manifests[first:]:
        require(each.signer.thumbprint == (before.root if before else root), "root_not_trusted", "by another root key")
        if before:
            each.check_follows(before)
        each.check_signature()
        chain.append(each)
        before = each
    return chain


def newest(sources, root):
    """The newest manifest in these files that the root key vouches for."""
    files = [read(data) for data in sources]
    own = [each for each in files if any(one.signer.thumbprint == root for one in each)]
    before = None
    for each in sorted((one for file in own or files for one in _chain(file, root)), key=lambda one: one.number):
        if before and each.number == before.number:
            require(each.bytes == before.bytes, "manifest_invalid", f"two manifests {each.number}")
            continue
        if before:
            require(each.signer.thumbprint == before.root, "root_not_trusted", "by another root key")
            each.check_follows(before)
        before = each
    return before
