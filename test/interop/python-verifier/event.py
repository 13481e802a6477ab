"""Events and their leaves (docs/formats/event.md, leaves.md)."""

import re

import strict_json
from refusal import Refused, require
from trees import h

V3_TEXTS = ("identity", "operation", "behaviour", "tenant_identity",
            "timestamp_declared", "timestamp_accepted", "timestamp_committed")
V3_OBJECTS = ("asset_attributes", "event_attributes", "principal_accepted", "principal_declared")
FREE_TEXTS = ("identity", "origin_tenant", "created_by", "created_at")
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
MOST_DEPTH = 64
EPOCH = 1
MISMATCH = "event_mismatch"


def _malformed(condition, what):
    require(condition, "malformed", f"not an event: {what}")


class Event:
    """An event's covered members; what else stood beside them is in `uncovered`."""

    def __init__(self, value):
        _malformed(isinstance(value, dict), "it is not an object")
        _malformed(strict_json.depth(value) <= MOST_DEPTH, "it is nested too deeply")
        self.served = value
        identity = value.get("identity")
        _malformed(isinstance(identity, str), "identity is not text")
        self.identity = identity
        self.is_public = identity.startswith("public")
        self.is_free = identity.startswith("events/")
        _malformed(self.is_free or re.match("(public)?assets/", identity), "an unknown kind of identity")
        self.members = self._read_free(value) if self.is_free else self._read_asset(value)
        self.index, self.idtimestamp = self._read_commit(value)

    def _read_asset(self, value):
        for name in V3_TEXTS:
            _malformed(isinstance(value.get(name), str), f"{name} is not text")
        for name in V3_OBJECTS:
            _malformed(isinstance(value.get(name), dict), f"{name} is not an object")
        self.attributes = value["event_attributes"]
        self.tenant = value["tenant_identity"]
        return {name: value[name] for name in V3_TEXTS + V3_OBJECTS}

    def _read_free(self, value):
        members = dict(value)
        created = value.get("created_at")
        # A number written as 1e3 or 1000.0 is the same number to the reader that served it.
        if isinstance(created, (int, float)) and not isinstance(created, bool):
            whole = created == int(created) if abs(created) != float("inf") else False
            members["created_at"] = str(int(created)) if whole and abs(created) < 2**53 else None
        for name in FREE_TEXTS:
            _malformed(isinstance(members.get(name), str), f"{name} is not text")
        _malformed(isinstance(value.get("event_type", ""), str), "event_type is not text")
        trails, attributes = value.get("trails"), value.get("attributes")
        _malformed(isinstance(trails, list) and all(isinstance(t, str) for t in trails), "trails are not texts")
        _malformed(isinstance(attributes, dict), "attributes are not an object")
        self.attributes, self.tenant = attributes, members["origin_tenant"]
        names = FREE_TEXTS + ("attributes", "trails") + (("event_type",) if "event_type" in value else ())
        return {name: members[name] for name in names}

    def _read_commit(self, value):
        entry = value.get("merklelog_commit", ())
        if not self.is_free:
            entry = value.get("merklelog_entry")
            _malformed(isinstance(entry, dict), "merklelog_entry is not an object")
            entry = entry.get("commit", ())
        _malformed(entry is None or isinstance(entry, dict), "the log commit is not an object")
        index, idtimestamp = (entry.get(name) for name in ("index", "idtimestamp")) if entry is not None else ("", "")
        _malformed(isinstance(index, str) and isinstance(idtimestamp, str), "the log commit has no texts")
        require(idtimestamp != "", "insufficient_data", "no log holds the event yet")
        good = re.fullmatch("(0|[1-9][0-9]{0,19})", index, re.ASCII)
        _malformed(good and "\n" not in index, "index is not a decimal number")
        _malformed(re.fullmatch("[0-9a-f]{18}", idtimestamp), "idtimestamp is not 18 hex characters")
        return int(index), idtimestamp

    @property
    def tenancy(self):
        """The tenancy's uuid, as the event spells it."""
        return self.tenant.removeprefix("tenant/")

    @property
    def id8(self):
        return bytes.fromhex(self.idtimestamp[2:])

    def extra_bytes(self):
        """The 24 bytes beside the leaf in the log."""
        if not self.is_free:
            return bytes(24)
        require(re.fullmatch("tenant/" + UUID, self.tenant, re.IGNORECASE), MISMATCH, "origin_tenant is not tenant/<uuid>")
        digest = bytes(7)
        if "event_type" in self.members:
            texts = [self.members[name].encode("utf-8") for name in ("event_type", "created_by", "created_at")]
            digest = h(*[b"%d:%s" % (len(text), text) for text in texts])[:7]
        return b"\x01" + bytes.fromhex(self.tenancy.replace("-", "")) + digest

    def leaf(self):
        """The leaf, from the event only. Raises Refused("event_mismatch") for what no log covers."""
        require(int(self.idtimestamp[:2], 16) == EPOCH, MISMATCH, f"the epoch is not {EPOCH}")
        try:
            if self.is_free:
                text = '{"attributes":%s,"trails":%s}' % (_go(self.members["attributes"]), _go(self.members["trails"]))
                return h(b"\x00", self.extra_bytes(), self.id8, _bencode(text))
            v3 = {**self.members, "identity": self.identity.removeprefix("public")}
            return h(b"\x00", self.id8, _bencode(v3))
        except UnicodeEncodeError:
            raise Refused(MISMATCH, "a text has a lone surrogate") from None

    def trie_key(self, tenancy):
        identity = self.identity.removeprefix("public").encode("utf-8")
        log = bytes.fromhex(tenancy.replace("-", "")) if self.is_free else f"tenant/{tenancy}".encode()
        return h(b"\x00", log, identity)


def _bencode(value):
    if isinstance(value, str):
        raw = value.encode("utf-8")
        return b"%d:%s" % (len(raw), raw)
    if isinstance(value, list):
        return b"l" + b"".join(map(_bencode, value)) + b"e"
    if isinstance(value, dict):
        members = sorted((name.encode("utf-8"), name) for name in value)
        return b"d" + b"".join(_bencode(name) + _bencode(value[name]) for _, name in members) + b"e"
    raise Refused(MISMATCH, "a number, true, false or null, which no log of ours covers")


_GO_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_GO_ESCAPED = re.compile('["\\\\\x00-\x1f<>&\u2028\u2029]')


def _go(value):
    if isinstance(value, str):
        value.encode("utf-8")
        escaped = _GO_ESCAPED.sub(lambda m: _GO_ESCAPES.get(m[0]) or "\\u%04x" % ord(m[0]), value)
        return f'"{escaped}"'
    if isinstance(value, list):
        return "[" + ",".join(map(_go, value)) + "]"
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-8"))
        return "{" + ",".join(f"{_go(name)}:{_go(value[name])}" for name in names) + "}"
    raise Refused(MISMATCH, "a number, true, false or null, which no log of ours covers")
