"""A second verifier, from docs/formats and the RFCs; it shares no code with the first.

    python3 python-verifier trust.json FILE…     prints one verdict as JSON; exit status as `vcon-archivist verify`
    python3 python-verifier --serve              reads {"trust": {…}, "files": {name: base64, …}} a line, answers a line
                                                 each; of {"document": text} it answers the digests of the vCon's forms

trust.json: {"log_keys": [path], "issuer_keys": [path], "issuer", "log_issuer", "statement_log", "tenancy_log",
"witnesses": [vkey], "quorum", "witnessed_log", "root": fingerprint}; every member is optional.
"""

import base64
import copy
import json
import sys

import check
import keys
import manifest
import under_root
import vcon_forms
from evidence import File
from witness import Witness

# A vCon may have 900 levels of lists and objects, and each takes several calls.
DEEPEST = 10_000
EXIT = {"verified": 0, "refused": 1, "unreadable": 2, "incomplete": 3}


class Trust:
    """What the verifier's user trusts and expects."""

    def __init__(self, members):
        self.log_keys, self.issuer_keys = ([key for path in members.get(name, []) for key in _read_keys(path)]
                                           for name in ("log_keys", "issuer_keys"))
        self.issuer = members.get("issuer")
        issuer = {} if members.get("log_issuer") is None else {"issuer": members["log_issuer"]}
        self.statement_pin, self.tenancy_pin = (
            {**issuer, **({} if members.get(name) is None else {"subject": members[name]})}
            for name in ("statement_log", "tenancy_log")
        )
        self.witnesses = [Witness(vkey) for vkey in members.get("witnesses", [])]
        self.quorum = members.get("quorum", len(self.witnesses))
        self.witnessed_log = members.get("witnessed_log")
        self.root = manifest.thumbprint_of(members["root"]) if "root" in members else None

    def under(self, newest):
        """The same with the keys of a manifest."""
        trust = copy.copy(self)
        trust.log_keys = newest.keys_of("statement_receipt", "seal") + self.log_keys
        trust.issuer_keys = newest.keys_of("issuer") + self.issuer_keys
        return trust


def _read_keys(path):
    with open(path, "rb") as opened:
        return keys.read_keys(opened.read())


def judge(read, trust):
    """The verdict about the files that `read` gives, as JSON."""
    try:
        files = read()
        if trust.root is not None:
            findings = under_root.judge(files, trust)
        else:
            findings = check.check_files(files, trust)
            findings.one_history()
    except check.Unreadable as error:
        return {"outcome": "unreadable", "detail": str(error)}
    return {**findings.document(), "files": [{"file": each.path, "kind": each.kind} for each in files]}


def answered(asked, known):
    if "document" in asked:
        return {"forms": vcon_forms.forms(asked["document"].encode("utf-8"))}
    name = json.dumps(asked["trust"])
    if name not in known:
        known[name] = Trust(asked["trust"])
    return judge(lambda: [File(name, base64.b64decode(data)) for name, data in asked["files"].items()], known[name])


def serve():
    known = {}
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = answered(asked, known)
        except Exception as error:  # a fault of this program is an answer of its own, never a verdict
            answer = {"outcome": "fault", "detail": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def main():
    sys.setrecursionlimit(DEEPEST)
    if sys.argv[1:] == ["--serve"]:
        serve()
        return 0
    with open(sys.argv[1], encoding="utf-8") as opened:
        trust = Trust(json.load(opened))
    answer = judge(lambda: [File(path) for path in sys.argv[2:]], trust)
    print(json.dumps(answer, indent=2))
    return EXIT[answer["outcome"]]


if __name__ == "__main__":
    sys.exit(main())
