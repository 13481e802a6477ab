"""Public keys of every form in which they are published (docs/formats/cose.md), and raw signatures by them."""

import base64
import binascii
import hashlib
import json

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

import cbor
from refusal import Refused, require

# name, COSE number of the curve, bytes of a coordinate, COSE algorithm, its JOSE name, order of the group
CURVES = {
    "P-256": (1, 32, -7, "ES256", 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551),
    "P-384": (
        2, 48, -35, "ES384",
        0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
    ),
    "P-521": (
        3, 66, -36, "ES512",
        0x01FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFA51868783BF2F966B7FCC0148F709A5D03BB5C9B8899C47AEBB6FB71E91386409,
    ),
    "Ed25519": (6, 32, -8, "EdDSA", None),
}
ABSENT = object()
# The numbers that name the curve as well (RFC 9864), and their names.
NAMED_CURVE = {-7: (-9, "ESP256"), -35: (-51, "ESP384"), -36: (-52, "ESP512"), -8: (-19, "Ed25519")}
RSA_ALGORITHMS = {"PS256": -37, "PS384": -38, "PS512": -39}
_HASHES = {-7: hashes.SHA256, -35: hashes.SHA384, -36: hashes.SHA512,
           -9: hashes.SHA256, -51: hashes.SHA384, -52: hashes.SHA512,
           -37: hashes.SHA256, -38: hashes.SHA384, -39: hashes.SHA512}
_EC = {"P-256": ec.SECP256R1, "P-384": ec.SECP384R1, "P-521": ec.SECP521R1}


class UnsupportedKey(Exception):
    """A key of a kind that signs no evidence: skipped where others are beside it."""


def b64(text):
    """Base64 or base64url, padded or not."""
    require(isinstance(text, str), "key_invalid", "a member of a key is not text")
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise Refused("key_invalid", "a member of a key is not base64") from None


class Key:
    """A public key by its members: `crv`, `x`, `y` as bytes, or `n`, `e` as integers."""

    def __init__(self, kid, algorithms, members, crv=None):
        self.kid, self.algorithms, self.members, self.crv = kid, algorithms, members, crv
        self.thumbprint = hashlib.sha256(cbor.encode(members)).digest()
        self._public = None

    def goes_by(self, kid):
        """Whether a header's kid names this key."""
        if kid == self.thumbprint:
            return True
        if self.kid is None:
            return False
        if kid == self.kid.encode("utf-8"):
            return True
        try:
            return kid == b64(self.kid)
        except Refused:
            return False

    def public(self):
        if self._public is None:
            try:
                self._public = self._load()
            except ValueError as error:
                raise Refused("key_invalid", f"a key is not a point on its curve: {error}") from None
        return self._public

    def _load(self):
        if self.crv is None:
            n, e = (int.from_bytes(self.members[label], "big") for label in (-1, -2))
            return rsa.RSAPublicNumbers(e, n).public_key()
        if self.crv == "Ed25519":
            return ed25519.Ed25519PublicKey.from_public_bytes(self.members[-2])
        x, y = (int.from_bytes(self.members[label], "big") for label in (-2, -3))
        return ec.EllipticCurvePublicNumbers(x, y, _EC[self.crv]()).public_key()

    def check_shape(self, signature):
        """Refuses what is no raw signature of this kind of key."""
        width = len(self.members[-1]) if self.crv is None else 2 * CURVES[self.crv][1]
        require(len(signature) == width, "signature_malformed", f"a signature is not {width} bytes")
        if self.crv is None:
            below = int.from_bytes(signature, "big") < int.from_bytes(self.members[-1], "big")
            require(below, "signature_malformed", "a signature is not below its modulus")
        elif self.crv != "Ed25519":
            order = CURVES[self.crv][4]
            for part in (signature[: width // 2], signature[width // 2 :]):
                number = int.from_bytes(part, "big")
                require(0 < number < order, "signature_malformed", "a signature has r or s out of range")

    def verifies(self, alg, message, signature):
        """Whether a raw signature of the right shape is this key's over the message."""
        public = self.public()
        try:
            if self.crv is None:
                digest = _HASHES[alg]()
                public.verify(signature, message, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
            elif self.crv == "Ed25519":
                if has_small_order(self.members[-2]) or has_small_order(signature[:32]):
                    return False
                public.verify(signature, message)
            else:
                half = len(signature) // 2
                r, s = (int.from_bytes(part, "big") for part in (signature[:half], signature[half:]))
                public.verify(encode_dss_signature(r, s), message, ec.ECDSA(_HASHES[alg]()))
            return True
        except InvalidSignature:
            return False


_PRIME = 2**255 - 19
_ORDER_8 = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
_SMALL_ORDER = {0, 1, _PRIME - 1, _ORDER_8, _PRIME - _ORDER_8}


def has_small_order(point):
    """Whether this is a point of Ed25519 that has a small order, in any spelling."""
    return (int.from_bytes(point, "little") & (2**255 - 1)) % _PRIME in _SMALL_ORDER


def _padded(value, width):
    good = isinstance(value, bytes) and 0 < len(value) <= width
    require(good, "key_invalid", f"a coordinate is not {width} bytes")
    return value.rjust(width, b"\0")


def _curve_key(kid, crv, x, y, width, alg):
    members = {1: 1, -1: CURVES[crv][0], -2: _padded(x, width)} if crv == "Ed25519" else {
        1: 2, -1: CURVES[crv][0], -2: _padded(x, width), -3: _padded(y, width)}
    return Key(kid, (alg, NAMED_CURVE[alg][0]), members, crv)


def _rsa_key(kid, n, e, alg):
    n, e = n.lstrip(b"\0"), e.lstrip(b"\0")
    bits = int.from_bytes(n, "big").bit_length()
    if not 2048 <= bits <= 8192:
        raise UnsupportedKey
    good = n[-1] % 2 == 1 and e and e[-1] % 2 == 1 and len(e) <= 4 and e != b"\1"
    require(good, "key_invalid", "an RSA key has an even modulus or an exponent that is not allowed")
    return Key(kid, (RSA_ALGORITHMS[alg],) if alg else tuple(RSA_ALGORITHMS.values()), {1: 3, -1: n, -2: e})


def _require_verifies(operations, *verify):
    """Skips a key whose list of operations leaves signatures out."""
    if operations is not ABSENT and not (isinstance(operations, list) and any(op in verify for op in operations)):
        raise UnsupportedKey


def from_cose(key):
    """A COSE_Key, in our form or with text key type and curve and stripped coordinates."""
    require(isinstance(key, dict), "key_invalid", "a COSE key is not a map")
    kid = key.get(2)
    kid = base64.urlsafe_b64encode(kid).rstrip(b"=").decode() if isinstance(kid, bytes) else kid
    kid = kid if isinstance(kid, str) else None
    _require_verifies(key.get(4, ABSENT), 2, "verify")
    kty, alg = key.get(1), key.get(3, ABSENT)
    if kty in (3, "RSA"):
        names = [name for name, number in RSA_ALGORITHMS.items() if alg in (name, number)]
        if alg is not ABSENT and not names:
            raise UnsupportedKey
        good = isinstance(key.get(-1), bytes) and isinstance(key.get(-2), bytes)
        require(good, "key_invalid", "an RSA key has no modulus or no exponent")
        return _rsa_key(kid, key[-1], key[-2], names[0] if names else None)
    for name, (number, width, algorithm, jose, _) in CURVES.items():
        if key.get(-1) in (name, number) and not isinstance(key.get(-1), bool):
            if kty not in ((1, "OKP") if name == "Ed25519" else (2, "EC", "EC2")):
                break
            if alg is not ABSENT and alg not in (algorithm, jose, *NAMED_CURVE[algorithm]):
                break
            if isinstance(key.get(-3), bool):
                break
            return _curve_key(kid, name, key.get(-2), key.get(-3), width, algorithm)
    raise UnsupportedKey


def from_jwk(jwk):
    """A JWK (RFC 7517)."""
    require(isinstance(jwk, dict), "key_invalid", "a key is not an object")
    kid = jwk["kid"] if isinstance(jwk.get("kid"), str) else None
    if jwk.get("use", "sig") != "sig":
        raise UnsupportedKey
    _require_verifies(jwk.get("key_ops", ABSENT), "verify")
    alg = jwk.get("alg", ABSENT)
    if jwk.get("kty") == "RSA":
        if alg is not ABSENT and alg not in RSA_ALGORITHMS:
            raise UnsupportedKey
        return _rsa_key(kid, b64(jwk.get("n")), b64(jwk.get("e")), None if alg is ABSENT else alg)
    curve = CURVES.get(jwk.get("crv"))
    kty = "OKP" if jwk.get("crv") == "Ed25519" else "EC"
    if curve is None or jwk.get("kty") != kty or (alg is not ABSENT and alg not in (curve[3], NAMED_CURVE[curve[2]][1])):
        raise UnsupportedKey
    width = curve[1]
    x, y = b64(jwk.get("x")), None if kty == "OKP" else b64(jwk.get("y"))
    require(len(x) == width and (y is None or len(y) == width), "key_invalid", "a coordinate has another width")
    return _curve_key(kid, jwk["crv"], x, y, width, curve[2])


def _usable(read, members):
    keys = []
    for member in members:
        try:
            keys.append(read(member))
        except UnsupportedKey:
            pass
    return keys


def _statement_methods(document):
    """The methods that a DID document lists for statements; all of them if it has no such list."""
    methods, listed = document.get("verificationMethod") or [], document.get("assertionMethod")
    if not isinstance(listed, list):
        return methods
    names = {document["id"] + name if name[0] == "#" else name for name in listed if isinstance(name, str)}
    named = [each for each in methods
             if (document["id"] + each["id"] if each["id"][0] == "#" else each["id"]) in names]
    return named + [each for each in listed if isinstance(each, dict)]


def _each_name_once(members):
    require(len(dict(members)) == len(members), "malformed", "a name occurs twice in one object")
    return dict(members)


def read_keys(data):
    """The keys of a file: COSE key set or key, JWK set, JWK, or DID document."""
    if data.lstrip()[:1] not in (b"{", b"["):
        value = cbor.decode(data)
        keys = _usable(from_cose, value if isinstance(value, list) else [value])
    else:
        document = json.loads(data, object_pairs_hook=_each_name_once)
        if "keys" in document:
            members = document["keys"]
        elif "verificationMethod" in document or "assertionMethod" in document:
            members = [{"kid": method["id"].split("#")[-1], **method["publicKeyJwk"]}
                       for method in _statement_methods(document) if "publicKeyJwk" in method]
        else:
            members = [document]
        keys = _usable(from_jwk, members)
    require(keys, "unsupported", "no usable key")
    return keys
