"""What a check found, and the outcome that follows from it (docs/formats/verdict.md)."""

import re

import times
from refusal import Refused
from trees import leaf_count

# Nothing false was found, and nothing was proven.
UNDECIDED = ("insufficient_data", "receipt_missing", "unsupported")


UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def log_of(log):
    """Names a log, no matter who signs for it: by the uuid in its name, and by its generation after an open fork."""
    name = log.get("subject")
    if name is None:
        return None
    uuids = set(re.findall(UUID, name))
    if len(uuids) != 1:
        return name, log.get("issuer")
    generation = re.fullmatch(rf"(?:tenant|log)/{UUID}\.([1-9][0-9]*)", name)
    return uuids.pop(), generation and generation[1]


def shown_log(proof):
    """The log and structure that a proof is about, or None. A checkpoint's origin is the name of a statement log."""
    if proof["type"] == "witness":
        log, structure = {"subject": proof["origin"]}, 1
    elif proof["type"] in ("inclusion", "seal"):
        log, structure = proof["log"], proof["vds"]
    else:
        return None
    name = log_of(log)
    return name and (name, structure)


class Findings:
    """Claims, contradictions, what is not covered, what is missing."""

    def __init__(self):
        self.claims, self.contradictions, self.not_covered, self.missing, self.remarks = [], [], [], [], []
        self.shown = []  # pieces with what they prove of a log beside their claims

    def claim(self, kind, piece, facts, by):
        facts = {name: value for name, value in facts.items() if value is not None}
        self.claims.append({"kind": kind, "piece": piece, "facts": facts, "by": list(by)})

    def refusal(self, piece, error):
        """Notes a failed check: a contradiction, or unproven evidence where nothing false was found."""
        if error.code in UNDECIDED:
            self.uncovered(piece, "unproven")
        else:
            self.contradictions.append({"piece": piece, "code": error.code, "detail": str(error)})

    def uncovered(self, piece, why, members=()):
        self.not_covered.append({"piece": piece, "members": sorted(members), "why": why})

    def lacks(self, what):
        self.missing.append(what)

    def add(self, other):
        for name in ("claims", "contradictions", "not_covered", "missing", "remarks", "shown"):
            getattr(self, name).extend(getattr(other, name))

    def seals(self, piece, seal_proofs):
        """Compares the times of seals of which no claim tells."""
        self.remarks += times.of_seals([(piece, proof) for proof in seal_proofs], log_of)

    def attempt(self, piece, work):
        """The result of a check, or None after its failure was noted."""
        try:
            return work()
        except Refused as error:
            self.refusal(piece, error)
            return None

    def one_history(self):
        """Refuses two hashes in one place of a log, and a leaf that is older than one before it."""
        first = {}
        for piece, proof in [*((claim["piece"], proof) for claim in self.claims for proof in claim["by"]), *self.shown]:
            log = shown_log(proof)
            differing = [place for place, node in getattr(proof, "nodes", ())
                         if log and first.setdefault((log, place), node) != node]
            if differing:
                self.refusal(piece, Refused("consistency_invalid", f"other hashes of {log} at {differing}"))
        for log, timed in self._times().items():
            latest = None
            for index, time, piece in sorted(timed):
                if latest and (time != latest[1] if index == latest[0] else time < latest[1]):
                    self.refusal(piece, Refused("consistency_invalid", f"leaf {index} of {log} is older than leaf {latest[0]}"))
                else:
                    latest = index, time

    def _times(self):
        """The proven times of the leaves of each log of structure 3, by their indices."""
        times = {}
        for claim in self.claims:
            committed = claim["facts"].get("committed") if claim["kind"] == "event" else None
            for proof in claim["by"]:
                log = log_of(proof["log"]) if proof.get("vds") == 3 else None
                if log is None:
                    continue
                timed = times.setdefault(log, set())
                if "newest_leaf_at" in proof:
                    timed.add((leaf_count(int(proof["tree_size"])) - 1, proof["newest_leaf_at"], claim["piece"]))
                if committed is not None and "leaf_index" in proof:
                    timed.add((int(proof["leaf_index"]), committed, claim["piece"]))
        return times

    @property
    def outcome(self):
        if self.contradictions:
            return "refused"
        unproven = any(each["why"] == "unproven" for each in self.not_covered)
        return "incomplete" if unproven or not self.claims else "verified"

    def document(self):
        return {"outcome": self.outcome, "claims": self.claims, "contradictions": self.contradictions,
                "not_covered": self.not_covered, "missing": sorted(set(self.missing)),
                "remarks": times.remarks(self.claims, self.remarks, log_of)}
