"""The files of an evidence bundle, as a zip or a folder, and its index (docs/formats/bundle.md)."""

import base64
import os
import re
import unicodedata

import check
import strict_json
import zip_files
from event import UUID
from refusal import Refused, require

INDEX, TEXT, PAGE = "index.json", "README.txt", "index.html"
OPERATION_FILES = {
    "event.json": "event",
    "transparent-statement.cose": "transparent-statement",
    "signed-statement.cose": "signed-statement",
    "statement-log-receipt.cose": "statement-log-receipt",
    "tenancy-log-receipt.cose": "tenancy-log-receipt",
    "tenancy-log-receipt-map.cose": "tenancy-log-receipt-map",
    "witness/seal.sth": "witnessed-seal",
    "witness/seal.tlog-proof": "witnessed-seal-proof",
    "witness/event-in-seal.json": "event-in-seal",
}
NO_EVIDENCE = ("explanation", "keys-copy")
SYSTEM_FILE = re.compile(r"(^|/)(\.DS_Store|Thumbs\.db|desktop\.ini|\._[^/]*)$")
KEYS_COPY = r"keys/(log-keys(-\d+)?\.cbor|key-manifest(-\d+)?\.cbor|did(-\d+)?\.json)"
LOG_FILE = rf"log/tenant/({UUID})/0/(?:(massifs)/(\d{{16}})\.log|(massifseals)/(\d{{16}})\.sth)"
MOST_FILES, MOST_BYTES, MOST_IN_ALL = 20_000, 16 << 20, 256 << 20
ELSEWHERE = re.compile(r"^/|[\\:]|[. ](/|\Z)|(^|/)(__proto__)?(/|\Z)")


def place_of(path):
    """The kind of the file that belongs at a path, and its operation's folder; (None, None) if none does."""
    if path in (TEXT, PAGE):
        return "explanation", None
    if re.fullmatch(KEYS_COPY, path):
        return "keys-copy", None
    log = re.fullmatch(LOG_FILE, path)
    if log:
        return ("massif" if log[2] else "seal"), None
    for name, kind in OPERATION_FILES.items():
        if path == name:
            return kind, ""
        if path.endswith("/" + name) and "/" not in path[: -len(name) - 1]:
            return kind, path[: -len(name) - 1]
    return None, None


def unreadable(condition, why):
    """Raises Unreadable unless the condition holds."""
    if not condition:
        raise check.Unreadable(why)


def _checked_names(sizes):
    seen = set()
    for name, size in sizes:
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).upper().lower())
        unreadable(folded not in seen, f"{name} is there twice")
        unreadable(not ELSEWHERE.search(name), f"{name} is for elsewhere")
        unreadable(size <= MOST_BYTES, f"{name} is too large")
        seen.add(folded)
    unreadable(len(seen) <= MOST_FILES and sum(size for _, size in sizes) <= MOST_IN_ALL, "the bundle is too large")


EVIDENCE = rb'<script id="evidence" type="application/zip">([A-Za-z0-9+/]*={0,2})</script>'


def is_page(data):
    """Whether it is the page of a bundle."""
    return data[:15].lower() == b"<!doctype html>" and len(re.findall(EVIDENCE, data)) == 1


def page_zip(data):
    """The zip in the page of a bundle."""
    try:
        return base64.b64decode(re.search(EVIDENCE, data)[1], validate=True)
    except ValueError:
        raise Refused("malformed", "the evidence in the page is not base64") from None


def read_zip(data):
    try:
        found = zip_files.entries(data)
        _checked_names([(entry.name.removesuffix("/"), max(entry.packed_size, entry.size)) for entry in found])
        return {entry.name: entry.content() for entry in found if not entry.name.endswith("/")}
    except zip_files.BadZip as error:
        raise check.Unreadable(f"the zip is damaged: {error}") from None


def read_folder(root):
    files = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, root).replace(os.sep, "/")
            unreadable(os.path.getsize(path) <= MOST_BYTES, f"{relative} is too large")
            with open(path, "rb") as opened:
                files[relative] = opened.read()
    _checked_names([(name, len(data)) for name, data in files.items()])
    return files


def without_outer_folder(files):
    """Names inside the one folder that holds an index and every file but those of operating systems."""
    outer = next((name for name in files if not SYSTEM_FILE.search(name)), "").partition("/")[0] + "/"
    if outer + INDEX not in files or not all(name.startswith(outer) or SYSTEM_FILE.search(name) for name in files):
        return files
    return {name[len(outer):] if name.startswith(outer) else "../" + name: data for name, data in files.items()}


def files_of(given):
    """The files of a bundle by their names in it, whatever form it was given in."""
    if is_page(given.data):
        return read_zip(page_zip(given.data))
    return without_outer_folder(read_folder(given.path) if given.kind == "folder" else read_zip(given.data))


class Index:
    """What a bundle was made with."""

    def __init__(self, data):
        value = strict_json.unambiguous(data)
        self._good(isinstance(value, dict) and value.get("format") == "vcon-archivist evidence bundle", "another format")
        require(value.get("version") == 1 and not isinstance(value["version"], bool), "unsupported", "another version")
        self.operations = self._records(value.get("operations"))
        self.files = self._records(value.get("files"))
        for number, operation in enumerate(self.operations, 1):
            folder, identity = operation.get("folder"), operation.get("identity")
            good = operation.get("number") == number and not isinstance(operation.get("number"), bool)
            good = good and isinstance(folder, str) and "/" not in folder and isinstance(identity, str) and identity
            self._good(good, "an operation has an unexpected member")
        count = value.get("operation_count")
        self._good(count == len(self.operations) and not isinstance(count, bool), "another number of operations")
        for entry in self.files:
            operation = entry.get("operation")
            good = "operation" not in entry or (
                isinstance(operation, int) and not isinstance(operation, bool) and 1 <= operation <= count)
            good = good and all(isinstance(entry.get(name), str) and entry[name] for name in ("path", "kind", "sha256"))
            self._good(good and re.fullmatch("[0-9a-f]{64}", entry["sha256"]), "a file has an unexpected member")
        for values in ([o["folder"] for o in self.operations], [o["identity"] for o in self.operations],
                       [f["path"] for f in self.files]):
            self._good(len(set(values)) == len(values), "something is listed twice")

    @staticmethod
    def _good(condition, why):
        require(condition, "malformed", f"{INDEX}: {why}")

    def _records(self, value):
        self._good(isinstance(value, list) and all(isinstance(each, dict) for each in value), "a list is not one")
        return value
