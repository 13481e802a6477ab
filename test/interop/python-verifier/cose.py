"""COSE_Sign1 (RFC 9052 section 4.2) as docs/formats/cose.md restricts it."""

import cbor
from refusal import Refused, require

ALG, CRIT, KID, DRAFT_CLAIMS, CLAIMS = 1, 2, 4, 13, 15


class Sign1:
    """A message taken apart; nothing is checked."""

    def __init__(self, data, of_others=False):
        parts = cbor.decode(data, 18, of_others)
        shape = isinstance(parts, list) and len(parts) == 4 and isinstance(parts[0], bytes)
        require(shape, "malformed", "not a COSE_Sign1 of four parts")
        self.protected_bytes, self.unprotected, self.payload, self.signature = parts
        good = (
            isinstance(self.unprotected, dict)
            and (self.payload is None or isinstance(self.payload, bytes))
            and isinstance(self.signature, bytes)
        )
        require(good, "malformed", "a part of a COSE_Sign1 has another type")
        self.protected = cbor.decode(self.protected_bytes, None, of_others) if self.protected_bytes else {}
        require(isinstance(self.protected, dict), "malformed", "the protected header is not a map")
        both = set(self.protected) & set(self.unprotected)
        require(not both, "malformed", "a label is in both headers")

    def entry(self):
        """The message with an empty unprotected header: what a statement log commits to."""
        return b"\xd2" + cbor.encode([self.protected_bytes, {}, self.payload, self.signature])

    def signed_bytes(self, payload):
        return cbor.encode(["Signature1", self.protected_bytes, b"", payload])


def statement_of(data):
    """A statement, which anybody may have signed with any common encoder."""
    return Sign1(data, of_others=True)


def claims_of(protected):
    """Claims at 15, else at 13. What both say of issuer, subject and confirmation has to be equal."""
    final, draft = protected.get(CLAIMS), protected.get(DRAFT_CLAIMS)
    if isinstance(final, dict) and isinstance(draft, dict):
        for label in (1, 2, 8):
            if label in final and label in draft:
                same = cbor.encode(final[label]) == cbor.encode(draft[label])
                require(same, "malformed", "the claims at 13 and 15 contradict each other")
    claims = final if final is not None else draft
    return claims if isinstance(claims, dict) else {}


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _check_critical(message, understood):
    require(CRIT not in message.unprotected, "critical_header_unknown", "the crit header is unprotected")
    if CRIT not in message.protected:
        return
    critical = message.protected[CRIT]
    good = isinstance(critical, list) and critical and all(
        is_integer(label) and label in understood and label in message.protected for label in critical
    )
    require(good, "critical_header_unknown", "a critical header is not understood")


def verify(message, payload, keys, understood, untrusted, invalid, candidates=None):
    """The key that signed the message over the payload. `candidates` replaces the choice by kid."""
    _check_critical(message, understood)
    alg = message.protected.get(ALG)
    good = is_integer(alg) and ALG not in message.unprotected
    require(good, "algorithm_not_allowed", "there is no protected signature algorithm")
    if candidates is None:
        kid = message.protected.get(KID)
        candidates = [key for key in keys if isinstance(kid, bytes) and key.goes_by(kid)]
        require(candidates, untrusted, "no given key has this kid")
    usable = [key for key in candidates if alg in key.algorithms]
    require(usable, "algorithm_not_allowed", "the algorithm is not the key's")
    signed = message.signed_bytes(payload)
    for key in usable:
        key.check_shape(message.signature)
        if key.verifies(alg, signed, message.signature):
            return key
    raise Refused(invalid, "the signature does not fit its content")
