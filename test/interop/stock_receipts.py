"""Asks the stock SCITT samples whether receipts are for events: a line {"event": path, "receipt": path} for a line.

The published package numbers the data structure of receipts 2, where later releases and the service have 3: it is set here
as later releases have it. Everything else is the package's. An exception of the package is a refusal.
"""

import json
import sys

from datatrails_scitt_samples.cose_receipt_verification import verify_receipt_mmriver
from datatrails_scitt_samples.datatrails.v3eventhash import v3leaf_hash
from datatrails_scitt_samples.mmriver import decodeinclusionproof

decodeinclusionproof.HEADER_LABEL_MMRIVER_VDS_TREE_ALG = 3

for line in sys.stdin:
    asked = json.loads(line)
    try:
        with open(asked["event"], encoding="utf-8") as event, open(asked["receipt"], "rb") as receipt:
            accepted = bool(verify_receipt_mmriver(receipt.read(), v3leaf_hash(json.load(event))))
        print(json.dumps({"accepted": accepted}), flush=True)
    except Exception as error:  # whatever the package raises, it has not accepted
        print(json.dumps({"accepted": False, "error": f"{type(error).__name__}: {error}"}), flush=True)
