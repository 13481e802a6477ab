"""From a token to a transparent statement, with nothing but Python's standard library.

Set ARCHIVIST_URL, ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET. The argument is the vCon's file.
"""

import hashlib
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

URL = os.environ["ARCHIVIST_URL"]


def ask(path, data=None, headers=None):
    """Returns the body of a response with status 2xx."""
    request = urllib.request.Request(URL + path, data, headers or {})
    with urllib.request.urlopen(request, timeout=30) as response:
        return response.read()


def token():
    """Returns an access token. It is valid for one hour."""
    form = {
        "grant_type": "client_credentials",
        "client_id": os.environ["ARCHIVIST_CLIENT_ID"],
        "client_secret": os.environ["ARCHIVIST_CLIENT_SECRET"],
    }
    data = urllib.parse.urlencode(form).encode()
    return json.loads(ask("/archivist/iam/v1/appidp/token", data))["access_token"]


def record(vcon, headers):
    """Records the creation of the vCon as an event and returns the event's identity."""
    attributes = {
        "vcon_operation": "vcon_created",
        "subject": "vcon://" + json.loads(vcon)["uuid"],
        "payload": hashlib.sha256(vcon).hexdigest(),
        "payload_hash_alg": "SHA-256",
    }
    body = json.dumps({"attributes": attributes}).encode()
    answer = ask("/archivist/v1/events", body, {**headers, "content-type": "application/json"})
    return json.loads(answer)["identity"]


def statement(event, headers, deadline=60):
    """Returns the transparent statement, once the log has sealed the event."""
    end = time.monotonic() + deadline
    while True:
        try:
            return ask(f"/archivist/v1/{event}/transparent-statement", headers=headers)
        except urllib.error.HTTPError as error:
            if error.code != 404 or time.monotonic() > end:
                raise
            time.sleep(0.5)


def main():
    vcon = Path(sys.argv[1] if len(sys.argv) > 1 else "call.vcon.json").read_bytes()
    headers = {"authorization": "Bearer " + token()}
    event = record(vcon, headers)
    Path("call.cose").write_bytes(statement(event, headers))
    Path("log-keys.cbor").write_bytes(ask("/.well-known/scitt-keys"))
    Path("issuer-keys.json").write_bytes(ask("/archivist/v1/didweb/did.json"))
    print(f"{event}: transparent statement in call.cose")


if __name__ == "__main__":
    main()
