"""Plays a stock SCITT library against the service and its verifier.

Usage: scitt_library.py SERVICE TOKEN FOLDER. For each algorithm of the library it registers a statement, checks the receipt
with the library, and writes into FOLDER what our verifier is to check: <algorithm>.cose with the service's receipt,
<algorithm>.foreign.cose with a receipt that the library made as a log of its own, and their keys.
"""

import base64
import json
import sys
import urllib.request

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from scitt_cose import attach_receipts, build_receipt, build_signed_statement, verify_receipt

service, token, folder = sys.argv[1:]
MAKERS = {
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ES384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwk(key, kid):
    public = key.public_key()
    if isinstance(public, ed25519.Ed25519PublicKey):
        return {"kty": "OKP", "crv": "Ed25519", "x": b64(public.public_bytes_raw()), "kid": kid}
    point = public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)[1:]
    half = len(point) // 2
    return {"kty": "EC", "crv": f"P-{8 * half}", "x": b64(point[:half]), "y": b64(point[half:]), "kid": kid}


def pem(key):
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def ask(path, body=None, **headers):
    request = urllib.request.Request(service + path, body, {"authorization": f"Bearer {token}", **headers})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def log_keys():
    """The service's keys by kid, as PEM."""
    keys = {}
    for key in cbor2.loads(ask("/.well-known/scitt-keys")):
        point = ec.EllipticCurvePublicNumbers(
            int.from_bytes(key[-2], "big"), int.from_bytes(key[-3], "big"), ec.SECP256R1()
        )
        keys[key[2]] = point.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return keys


def entry_of(statement):
    """The statement without its unprotected header."""
    protected, _, payload, signature = cbor2.loads(statement).value
    return cbor2.dumps(cbor2.CBORTag(18, [protected, {}, payload, signature]))


def write(name, content):
    with open(f"{folder}/{name}", "wb") as file:
        file.write(content)


def play(alg, trusted):
    key, log = MAKERS[alg](), MAKERS[alg]()
    issuer = f"https://{alg.lower()}.example"
    anchor = {"issuer": issuer, "kid": "signer", "public_key": jwk(key, "signer")}
    ask("/archivist/v1/scitt/trust_anchors", json.dumps(anchor).encode(), **{"content-type": "application/json"})
    told = {"issuer": issuer, "subject": "artifact", "content_type": "application/json", "kid": b"signer"}
    statement = build_signed_statement(b'{"a":1}', alg=alg, private_key_pem=pem(key), **told)
    receipt = ask("/entries", statement, **{"content-type": "application/cose"})

    entry = entry_of(statement)
    log_key = trusted[cbor2.loads(cbor2.loads(receipt).value[0])[4]]
    checked = verify_receipt(receipt, leaf_entry_hex=entry.hex(), log_public_key_pem=log_key)
    altered = entry[:-1] + bytes([entry[-1] ^ 1])
    refused = verify_receipt(receipt, leaf_entry_hex=altered.hex(), log_public_key_pem=log_key)
    assert checked.ok and not refused.ok, (alg, checked.errors, refused.errors)

    others = [bytes([place]).hex() for place in range(6)]
    entries = [*others[:3], entry.hex(), *others[3:]]
    made = {"iss": "https://log.example", "sub": "log", "kid": b"log", "log_private_key_pem": pem(log)}
    foreign = build_receipt(leaf_entry_hex=entry.hex(), leaf_index=3, tree_entries_hex=entries, alg=alg, **made)
    write(f"{alg}.cose", attach_receipts(statement, [receipt]))
    write(f"{alg}.foreign.cose", attach_receipts(statement, [foreign]))
    write(f"{alg}.json", json.dumps({"keys": [jwk(key, "signer")]}).encode())
    write(f"{alg}.log.json", json.dumps({"keys": [jwk(log, "log")]}).encode())


trusted = log_keys()
for alg in MAKERS:
    play(alg, trusted)
print(" ".join(MAKERS))
