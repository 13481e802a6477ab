"""Times of one service that exclude each other (docs/formats/verdict.md, remarks)."""

import re
from datetime import datetime, timedelta, timezone

MOST_SKEW = timedelta(seconds=5)
START = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _parse(text):
    """A time of RFC 3339, or None."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))", text or "", re.ASCII)
    if not match:
        return None
    try:
        time = datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc) - START
    except ValueError:
        return None
    offset = timedelta(hours=int(match[4] or 0), minutes=int(match[5] or 0))
    milliseconds = int((match[2] or "")[:3].ljust(3, "0"))
    return time + timedelta(milliseconds=milliseconds) - (-offset if match[3] == "-" else offset)


def _is_before(time, other):
    one, two = _parse(time), _parse(other)
    return one is not None and two is not None and two - one > MOST_SKEW


def _of_events(claims):
    stated = {}
    for claim in claims:
        if claim["kind"] == "event":
            stated.setdefault(claim["piece"], {}).update(claim["facts"])
    for piece, facts in stated.items():
        if _is_before(facts.get("committed"), facts.get("accepted")):
            yield {"what": "accepted_after_committed", "piece": piece}


def of_seals(placed, log_of):
    """Remarks about pairs of a piece and a proof by a seal."""
    newest, found = {}, []
    for piece, proof in sorted(placed, key=lambda each: int(each[1]["tree_size"])):
        at, size, log = proof["sealed_at"], proof["tree_size"], log_of(proof["log"])
        if _is_before(at, proof.get("newest_leaf_at")):
            found.append({"what": "sealed_before_leaf", "piece": piece, "seal": (log, size, at)})
        older = newest.get(log)
        if log is None:
            continue
        if older and older["tree_size"] != size and _is_before(at, older["sealed_at"]):
            found.append({"what": "sealed_before_older_seal", "piece": piece, "seal": (log, size, at)})
        if not older or _parse(at) > _parse(older["sealed_at"]):
            newest[log] = proof
    return found


def remarks(claims, earlier, log_of):
    """Of all claims; `earlier` are remarks about seals that no claim has."""
    placed = [(claim["piece"], proof) for claim in claims for proof in claim["by"] if "sealed_at" in proof]
    by_seal = {(each["what"], each["seal"]): each for each in [*of_seals(placed, log_of), *earlier]}
    return [*_of_events(claims), *({"what": each["what"], "piece": each["piece"]} for each in by_seal.values())]
