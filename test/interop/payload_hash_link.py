"""Registers statements made by pycose as the conserver's stock SCITT link makes them, and checks the receipts its way.

Usage: payload_hash_link.py BASE_URL PRIVATE_KEY_PEM KID COUNT. The link sends no token, wants 201 at once, takes the entry
from the last part of Location, and takes the first key that the service's configuration leads to.
"""

import base64
import hashlib
import sys
import urllib.request
import json

import cbor2
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pycose.algorithms import Es256
from pycose.headers import KID, Algorithm
from pycose.keys import CoseKey, EC2Key
from pycose.keys.curves import P256
from pycose.keys.keyops import SignOp
from pycose.keys.keyparam import EC2KpCurve, EC2KpD, EC2KpX, EC2KpY, KpKeyOps, KpKty
from pycose.keys.keytype import KtyEC2
from pycose.messages import Sign1Message

base, pem, kid, count = sys.argv[1:]
with open(pem, "rb") as file:
    private = load_pem_private_key(file.read(), None).private_numbers()
x, y, d = [
    value.to_bytes(32, "big")
    for value in (private.public_numbers.x, private.public_numbers.y, private.private_value)
]


def statement(payload, subject, meta):
    header = {
        Algorithm: Es256,
        KID: kid.encode(),
        -6802: "application/vcon+json",
        13: {1: "conserver", 2: subject, 8: {1: {KpKty: KtyEC2, EC2KpCurve: P256, EC2KpX: x, EC2KpY: y}}},
        -6800: -16,
        -6801: "",
        -6804: meta,
    }
    message = Sign1Message(phdr=header, payload=payload)
    message.key = CoseKey.from_dict(
        {KpKty: KtyEC2, EC2KpCurve: P256, KpKeyOps: [SignOp], EC2KpD: d, EC2KpX: x, EC2KpY: y}
    )
    return message.encode()


def fetch(url, data=None):
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/cose"} if data else {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status, answer.headers, answer.read()


def root_by_pairs(leaf, index, size, path):
    """Level by level, a last node without a neighbour rises as it is."""
    path = iter(path)
    while size > 1:
        if index != size - 1 or size % 2 == 0:
            sibling = next(path)
            pair = leaf + sibling if index % 2 == 0 else sibling + leaf
            leaf = hashlib.sha256(b"\x01" + pair).digest()
        index, size = index // 2, (size + 1) // 2
    return leaf


def check_receipt(receipt, payload):
    message = Sign1Message.decode(receipt)
    size, index, path = cbor2.loads(message.uhdr[396][-1][0])
    leaf = hashlib.sha256(b"\x00" + hashlib.sha256(payload).digest()).digest()
    configuration = cbor2.loads(fetch(f"{base}/.well-known/transparency-configuration")[2])
    keys = json.loads(fetch(configuration.get("jwks_uri") or f"{base}/jwks")[2])["keys"]
    message.key = EC2Key(
        crv=P256, x=base64.urlsafe_b64decode(keys[0]["x"] + "=="), y=base64.urlsafe_b64decode(keys[0]["y"] + "==")
    )
    if not message.verify_signature(detached_payload=root_by_pairs(leaf, index, size, path)):
        sys.exit("a receipt does not verify")


for place in range(int(count)):
    text = f"{'ab' * 32}:vcon_created:+1555010{place:04d}".encode()
    body = statement(text, f"tel:+1555010{place:04d}", {"vcon_operation": "vcon_created"})
    status, headers, receipt = fetch(f"{base}/entries", body)
    entry = headers["Location"].rsplit("/", 1)[-1]
    if status != 201 or not entry:
        sys.exit(f"not registered at once: {status}")
    check_receipt(receipt, text)
    if fetch(f"{base}/entries/{entry}")[2] != receipt or fetch(f"{base}/entries", body)[2] != receipt:
        sys.exit("another receipt for the same entry")
print(f"{count} registered")
