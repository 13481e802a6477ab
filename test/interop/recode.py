"""Reads one encoded CBOR item a line, in hex, and prints what cbor2's canonical encoding of its value is."""

import sys

import cbor2

with open(sys.argv[1], encoding="ascii") as lines:
    for line in lines:
        print(cbor2.dumps(cbor2.loads(bytes.fromhex(line)), canonical=True).hex())
