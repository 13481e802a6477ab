"""Checks what a running service handed out with pycose, cbor2 and hashlib, from the RFCs and the log format alone.

Usage: verify_evidence.py FOLDER: the folder of gather-evidence.ts. Prints one JSON line a check; every signature is
also checked with one bit of the message and of the signature turned, and has to fail then. Ends with 1 if any check failed.
"""

import base64
import hashlib
import json
import struct
import sys
import traceback
from pathlib import Path

import cbor2
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pycose.headers import KID, Algorithm
from pycose.keys import CoseKey
from pycose.messages import Sign1Message

FOLDER = Path(sys.argv[1])
MANIFEST = json.loads((FOLDER / "manifest.json").read_text("utf-8"))
RECEIPTS, VDS, VDP, CLAIMS, DRAFT_CLAIMS, PEAK_RECEIPTS = 394, 395, 396, 15, 13, -65931
failures = 0
checks = 0


def check(name, work):
    global checks, failures
    checks += 1
    try:
        work()
    except Exception:  # every failure is told, whatever it is
        failures += 1
        print(json.dumps({"check": name, "ok": False, "error": traceback.format_exc()[-800:]}))


def require(condition, what):
    if not condition:
        raise AssertionError(what)


def h(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def read(name):
    return (FOLDER / name).read_bytes()


def b64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


# Signatures (RFC 9052), by pycose.


def flipped(data):
    return data[:-1] + bytes([data[-1] ^ 1])


def verify_sign1(data, key, detached=None):
    """The message, when its signature holds, and does no longer once message or signature has a bit turned."""
    message = Sign1Message.decode(data)
    message.key = key
    require(message.verify_signature(detached_payload=detached), "the signature does not hold")
    signature = message.signature
    message.signature = flipped(signature)
    require(not message.verify_signature(detached_payload=detached), "an altered signature holds")
    message.signature = signature
    if detached is None:
        message.payload = flipped(message.payload)
    else:
        detached = flipped(detached)
    require(not message.verify_signature(detached_payload=detached), "an altered payload holds")
    return Sign1Message.decode(data)


def thumbprint(key):
    """RFC 9679."""
    required = {label: key[label] for label in (1, -1, -2, -3) if label in key}
    return hashlib.sha256(cbor2.dumps(required, canonical=True)).digest()


def key_set(data):
    keys = {}
    for key in cbor2.loads(data):
        require(key[2] == thumbprint(key), "a kid is not the key's thumbprint")
        require(len(key[-2]) == len(key[-3]), "a coordinate has lost a zero")
        keys[key[2]] = CoseKey.from_dict(dict(key))
    return keys


def jwk_keys(members):
    keys = {}
    for jwk in members:
        key = {1: 2, -1: {"P-256": 1, "P-384": 2, "P-521": 3}[jwk["crv"]], -2: b64url(jwk["x"]), -3: b64url(jwk["y"])}
        require(b64url(jwk["kid"]) == thumbprint(key), "a JWK's kid is not its thumbprint")
        keys[thumbprint(key)] = CoseKey.from_dict(key)
    return keys


LOG_KEYS = key_set(read(MANIFEST["scitt_keys"]))
ISSUER_KEYS = jwk_keys(
    [method["publicKeyJwk"] for method in json.loads(read(MANIFEST["issuer_keys"]))["verificationMethod"]]
)


def header(message, label):
    for key, value in message.phdr.items():
        if key == label:
            return value
    return None


def kid_of(message):
    return message.phdr[KID]


# Canonical bytes: what the service wrote is what cbor2 writes of the same values.


def require_canonical(data):
    require(cbor2.dumps(cbor2.loads(data), canonical=True) == data, "not the canonical encoding of its own content")


def require_canonical_sign1(data):
    require_canonical(data)
    require_canonical(cbor2.loads(data).value[0])


def entry_of(data):
    """A COSE_Sign1 with an empty unprotected header: what the statement logs commit to."""
    protected, _, payload, signature = cbor2.loads(data).value
    return cbor2.dumps(cbor2.CBORTag(18, [protected, {}, payload, signature]), canonical=True)


# RFC 9162 tree (RFC 9942 receipts).


def rfc9162_root(entry_hash, index, size, path):
    """RFC 9162 section 2.1.3.2."""
    require(index < size, "the index lies beyond the tree")
    fn, sn, r = index, size - 1, entry_hash
    for p in path:
        require(sn > 0, "the path is too long")
        if fn & 1 or fn == sn:
            r = h(b"\x01", p, r)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = h(b"\x01", r, p)
        fn, sn = fn >> 1, sn >> 1
    require(sn == 0, "the path is too short")
    return r


def check_rfc9162_receipt(data, leaf, keys=LOG_KEYS):
    require_canonical_sign1(data)
    message = Sign1Message.decode(data)
    require(header(message, VDS) == 1 and message.payload is None, "not a receipt of an RFC 9162 tree")
    require(header(message, CLAIMS) is not None and header(message, DRAFT_CLAIMS) is None, "claims are not at 15")
    (proof,) = message.uhdr[VDP][-1]
    size, index, path = cbor2.loads(proof)
    root = rfc9162_root(leaf, index, size, path)
    verify_sign1(data, keys[kid_of(message)], root)
    return size, root


# Merkle mountain range (the profile's draft; log format, section 1).


def height(index):
    position = index + 1
    while position & (position + 1):
        position -= (1 << (position.bit_length() - 1)) - 1
    return position.bit_length() - 1


def parent(position, left, right):
    return h(struct.pack(">Q", position), left, right)


def mmr_peak(index, node, path):
    g = height(index)
    for sibling in path:
        if height(index + 1) > g:
            index += 1
            node = parent(index + 1, sibling, node)
        else:
            index += 2 << g
            node = parent(index + 1, node, sibling)
        g += 1
    return node


def bencode(value):
    if isinstance(value, str):
        raw = value.encode("utf-8")
        return b"%d:%s" % (len(raw), raw)
    if isinstance(value, list):
        return b"l" + b"".join(map(bencode, value)) + b"e"
    members = sorted((key.encode("utf-8"), key) for key in value)
    return b"d" + b"".join(bencode(key) + bencode(value[key]) for _, key in members) + b"e"


V3_FIELDS = """asset_attributes behaviour event_attributes identity operation principal_accepted principal_declared
tenant_identity timestamp_accepted timestamp_committed timestamp_declared""".split()


def sorted_deep(value):
    if isinstance(value, dict):
        return {key: sorted_deep(value[key]) for key in sorted(value, key=lambda key: key.encode("utf-8"))}
    return [sorted_deep(member) for member in value] if isinstance(value, list) else value


def go_json(value):
    text = json.dumps(sorted_deep(value), ensure_ascii=False, separators=(",", ":"))
    for plain, escaped in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("\u2028", "\\u2028")):
        text = text.replace(plain, escaped)
    return text


def event_leaf(event, extra_bytes=None):
    """The leaf of an event (log format, sections 4 and 5), and its place in the log."""
    if event["identity"].startswith("events/"):
        commit = event["merklelog_commit"]
        body = '{"attributes":%s,"trails":%s}' % (go_json(event["attributes"]), go_json(event["trails"]))
        if extra_bytes is None:
            origin = [event["event_type"], event["created_by"], str(event["created_at"])]
            digest = h(*[b"%d:%s" % (len(text.encode()), text.encode()) for text in origin])[:7]
            extra_bytes = b"\x01" + bytes.fromhex(event["origin_tenant"][7:].replace("-", "")) + digest
        prefix = b"\x00" + extra_bytes
        content = bencode(body)
    else:
        commit = event["merklelog_entry"]["commit"]
        v3 = {name: event[name] for name in V3_FIELDS}
        v3["identity"] = v3["identity"].removeprefix("public")
        prefix, content = b"\x00", bencode(v3)
    return h(prefix, bytes.fromhex(commit["idtimestamp"][2:]), content), int(commit["index"])


def check_mmr_receipt(data, event, form):
    require_canonical_sign1(data)
    message = Sign1Message.decode(data)
    require(header(message, VDS) == 3 and message.payload is None, "not a receipt of a mountain range")
    require(header(message, CLAIMS) == header(message, DRAFT_CLAIMS), "claims at 13 and 15 differ")
    (proof,) = message.uhdr[VDP][-1]
    if form == "map":
        require(isinstance(proof, dict), "the proof is not a map")
        index, path = proof[1], proof[2]
    else:
        index, path = cbor2.loads(proof)
    leaf, place = event_leaf(event)
    require(index == place, "the receipt is of another place")
    verify_sign1(data, LOG_KEYS[kid_of(message)], mmr_peak(index, leaf, path))
    claimed = dict(header(message, CLAIMS)[8][1])
    require(claimed[2] == base64.urlsafe_b64encode(kid_of(message)).rstrip(b"=").decode(), "the claimed key's kid differs")
    # Stock clients take the key from the claims: it has to be one that pycose reads, and the same.
    require(CoseKey.from_dict({k: v for k, v in claimed.items() if k != 2}).x == LOG_KEYS[kid_of(message)].x, "another key")


def check_statement(data, document):
    require_canonical_sign1(data)
    message = Sign1Message.decode(data)
    verify_sign1(data, ISSUER_KEYS[kid_of(message)])
    require(header(message, -6800) == -16 and header(message, 16) == "application/hashed+cose", "not a hash envelope")
    require(message.payload == hashlib.sha256(document.encode("utf-8")).digest(), "the payload is not the document's digest")
    require(header(message, CLAIMS)[2].startswith("vcon://"), "the subject is no vCon")


def check_transparent(data, signed, event):
    require_canonical_sign1(data)
    uhdr = cbor2.loads(data).value[1]
    require(entry_of(data) == entry_of(signed), "it is another statement")
    tree, range_ = uhdr[RECEIPTS]
    check_rfc9162_receipt(tree, h(b"\x00", entry_of(signed)))
    frozen = json.loads(uhdr["event"])
    require(event_leaf(frozen) == event_leaf(event), "the frozen event is not the one that is served")
    check_mmr_receipt(range_, frozen, "draft")


for number, kept in enumerate(MANIFEST["statements"]):
    name = kept["path"]
    event = json.loads(read(kept["event"]))
    check(f"{name}: statement", lambda: check_statement(read(kept["signed"]), kept["document"]))
    check(f"{name}: receipt, map form", lambda: check_mmr_receipt(read(kept["receipt_map"]), event, "map"))
    check(f"{name}: receipt, draft form", lambda: check_mmr_receipt(read(kept["receipt_draft"]), event, "draft"))
    check(
        f"{name}: transparent statement",
        lambda: check_transparent(read(kept["transparent"]), read(kept["signed"]), event),
    )

PSS_OR_EC = {"ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512"}


def check_registered(kept):
    statement = read(kept["statement"])
    message = Sign1Message.decode(statement)
    key = CoseKey.from_dict(dict(header(message, CLAIMS)[8][1]))
    require(message.phdr[Algorithm].fullname.upper() == kept["name"].upper(), "another algorithm")
    verify_sign1(statement, key)
    check_rfc9162_receipt(read(kept["receipt"]), h(b"\x00", entry_of(statement)))


for kept in MANIFEST["registered"]:
    require(kept["name"] in PSS_OR_EC, kept["name"])
    check(f"registered {kept['name']}", lambda: check_registered(kept))

LINK_KEYS = jwk_keys(json.loads(read(MANIFEST["payload_hash"]["keys"]))["keys"])
for kept in MANIFEST["payload_hash"]["entries"]:
    payload = Sign1Message.decode(read(kept["statement"])).payload
    check(
        f"payload-hash {kept['receipt']}",
        lambda: check_rfc9162_receipt(read(kept["receipt"]), h(b"\x00", hashlib.sha256(payload).digest()), LINK_KEYS),
    )

# Massifs and seals (log format, sections 3 and 6).


def massif_nodes(data):
    """Every node of a log's first massif, recomputed from its leaves, and the trie entries beside them."""
    require(data[27] == 14 and struct.unpack(">I", data[28:32])[0] == 0, "not a first massif of height 14")
    stored = data[1048864:]
    require(len(stored) % 32 == 0, "the file ends inside a node")
    stored = [stored[at : at + 32] for at in range(0, len(stored), 32)]
    nodes, entries = [], []
    while len(nodes) < len(stored):
        entry = data[288 + 64 * len(entries) : 352 + 64 * len(entries)]
        entries.append((entry[:32], entry[32:56], entry[56:]))
        nodes.append(stored[len(nodes)])
        g = 0
        while height(len(nodes)) > g:
            nodes.append(parent(len(nodes) + 1, nodes[len(nodes) - (2 << g)], nodes[-1]))
            g += 1
    require(nodes == stored, "a node is not the hash of its children")
    require(data[8:16] == entries[-1][2], "the header dates another last leaf")
    return nodes, entries


def peak_indices(size):
    peaks, base = [], 0
    while size:
        tree = (1 << ((size + 1).bit_length() - 1)) - 1
        base += tree
        peaks.append(base - 1)
        size -= tree
    return peaks


def check_log(kept):
    nodes, entries = massif_nodes(read(kept["massif"]))
    seal = read(kept["seal"])
    require_canonical_sign1(seal)
    message = Sign1Message.decode(seal)
    state = cbor2.loads(message.payload)
    require(set(state) == {1, 3, 4, 6, 7} and state[7] == 2 and state[6] == 1, "another kind of state")
    peaks = [nodes[index] for index in peak_indices(state[1])]
    signed = cbor2.dumps({**state, 8: peaks}, canonical=True)
    claims = header(message, CLAIMS)
    require(claims == header(message, DRAFT_CLAIMS) and claims[2] == kept["tenant"], "the seal is of another log")
    key = LOG_KEYS[b64url(claims[8][1][2])]
    protected, uhdr, _, signature = cbor2.loads(seal).value
    detached = cbor2.dumps(cbor2.CBORTag(18, [protected, {}, None, signature]))
    verify_sign1(detached, key, signed)
    receipts = uhdr[PEAK_RECEIPTS]
    require(len(receipts) == len(peaks), "not one receipt a peak")
    for receipt, peak in zip(receipts, peaks):
        verify_sign1(receipt, LOG_KEYS[kid_of(Sign1Message.decode(receipt))], peak)
    return nodes, entries


LOGS = {}
for kept in MANIFEST["massifs"]:
    check(f"log of {kept['tenant']}", lambda: LOGS.update({kept["tenant"]: check_log(kept)}))


def check_in_log(kept):
    event = json.loads(read(kept["event"]))
    claims = header(Sign1Message.decode(read(kept["receipt_map"])), CLAIMS)
    nodes, entries = LOGS[claims[2]]
    leaf, index = event_leaf(event)
    require(nodes[index] == leaf, "the log holds something else")
    free = event["identity"].startswith("events/")
    tenant = claims[2].removeprefix("tenant/")
    log_id = bytes.fromhex(tenant.replace("-", "")) if free else claims[2].encode()
    key = h(b"\x00", log_id, event["identity"].removeprefix("public").encode())
    ((_, extra_bytes, idtimestamp),) = [entry for entry in entries if entry[0] == key]
    # As stock verifiers do, with the extra bytes that the log has.
    require(event_leaf(event, extra_bytes)[0] == leaf, "another leaf with the log's extra bytes")
    commit = event["merklelog_commit"] if free else event["merklelog_entry"]["commit"]
    require(commit["idtimestamp"] == "01" + idtimestamp.hex(), "the log dates it otherwise")


for kept in MANIFEST["statements"]:
    check(f"{kept['path']}: in its log", lambda: check_in_log(kept))

# Notes and cosignatures (C2SP signed-note, tlog-checkpoint, tlog-cosignature).


def note_key(vkey, kind):
    name, key_id, data = vkey.split("+", 2)
    data = base64.b64decode(data)
    require(data[0] == kind, "a key of another kind")
    require(h(name.encode(), b"\n", data)[:4].hex() == key_id, "the key's id is not its hash")
    return name, bytes.fromhex(key_id), Ed25519PublicKey.from_public_bytes(data[1:])


def verify_note(text, vkey, kind):
    body, lines = text.split("\n\n", 1)
    body = (body + "\n").encode()
    name, key_id, key = note_key(vkey, kind)
    for line in lines.splitlines():
        dash, signer, blob = line.split(" ")
        blob = base64.b64decode(blob)
        if (dash, signer, blob[:4]) != ("\u2014", name, key_id):
            continue
        message, signature = body, blob[4:]
        if kind == 4:
            (time,) = struct.unpack(">Q", blob[4:12])
            message, signature = b"cosignature/v1\ntime %d\n" % time + body, blob[12:]
        key.verify(signature, message)
        try:
            key.verify(signature, flipped(message))
        except InvalidSignature:
            return body.decode().splitlines()
        raise AssertionError("an altered note holds")
    raise AssertionError("no signature by this key")


def check_note(kept):
    text = read(kept["checkpoint"]).decode()
    origin, size, _root = verify_note(text, kept["vkey"], 1)[:3]
    require(origin == kept["origin"] and int(size) > 0, "another log")
    if kept["kind"] == "public":
        for vkey in MANIFEST["witnesses"]:
            verify_note(text, vkey, 4)


for kept in MANIFEST["notes"]:
    check(f"checkpoint of the {kept['kind']} log", lambda: check_note(kept))

print(json.dumps({"checks": checks, "failures": failures}))
sys.exit(1 if failures else 0)
