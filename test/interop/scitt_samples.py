"""Registers a statement with the stock SCITT samples' own modules and checks what comes back with them.

Usage: scitt_samples.py SIGNED_STATEMENT TRANSPARENT_STATEMENT; the service is named by the samples' own environment.

The published package is older than the current form of two things: it expects the answers of registration in JSON, where
later releases and the service have CBOR, and numbers the data structure of receipts 2, where later releases have 3. These
two are set here as later releases have them; everything else is the package's.
"""

import sys
import time

import cbor2
import requests
from datatrails_scitt_samples.cose_receipt_verification import verify_receipt_mmriver
from datatrails_scitt_samples.datatrails.eventpreimage import get_leaf_hash
from datatrails_scitt_samples.datatrails.servicecontext import ServiceContext
from datatrails_scitt_samples.mmriver import decodeinclusionproof
from datatrails_scitt_samples.scripts.register_signed_statement import attach_receipt
from datatrails_scitt_samples.statement_registration import get_receipt

statement, transparent = sys.argv[1:]
decodeinclusionproof.HEADER_LABEL_MMRIVER_VDS_TREE_ALG = 3

context = ServiceContext.from_env("register-statement")
entries = f"{context.cfg.datatrails_url}/archivist/v1/publicscitt"
headers = {"Authorization": context.auth_header}
with open(statement, "rb") as file:
    answer = requests.post(f"{entries}/entries", headers=headers, data=file.read(), timeout=30)
answer.raise_for_status()
operation = cbor2.loads(answer.content)["OperationID"]

# Stock clients ask at once, after ten and after twenty seconds, and then give up.
for _ in range(3):
    answer = requests.get(f"{entries}/operations/{operation}", headers=headers, timeout=30)
    answer.raise_for_status()
    status = cbor2.loads(answer.content)
    if answer.status_code != 202 and status["Status"] == "succeeded":
        break
    time.sleep(10)
entry = status["EntryID"]

# The event and the receipt have to be final at once.
leaf = get_leaf_hash(context, entry)
receipt = get_receipt(context, entry)
if not verify_receipt_mmriver(receipt, leaf):
    sys.exit("the receipt does not verify")
if verify_receipt_mmriver(receipt, leaf[:-1] + bytes([leaf[-1] ^ 1])):
    sys.exit("the receipt verifies for another leaf")
attach_receipt(receipt, statement, transparent)
print(entry)
