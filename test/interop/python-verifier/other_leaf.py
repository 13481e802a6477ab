"""Copies of an event's log that have another leaf in its place (docs/formats/verdict.md, rule 3)."""

import re

import receipt
import verdict
from trees import h, height, leaf_count

GENERATION = re.compile(rf"(tenant/{verdict.UUID})\.([1-9][0-9]{{0,8}})")
MOST_GENERATIONS = 64


class OtherLeaf:
    """What a copy has in an event's place, and the refusal if the copy is of the event's own generation."""

    def __init__(self, event, sealed, refusal, copy):
        massif, self.log, self.refusal = sealed.massif, sealed.seal.log, refusal
        named = GENERATION.fullmatch(self.log.get("subject") or "")
        self.is_later = named is not None
        place = leaf_count(event.index)
        there = massif.entries[place - massif.first_leaf]
        self.is_same_event = there[:32] == event.trie_key(receipt.tenancy_of(self.log)) or there[56:] == event.id8
        fork = first_fork(named, copy) if named else None
        self.is_shared = None if fork is None else place < fork


def first_fork(named, copy):
    """The leaf index of the log's first fork statement; None if no massif of the copy has one."""
    count = min(int(named[2]), MOST_GENERATIONS)
    keys = {h(b"\0", named[1].encode() + b"forks/%d" % number) for number in range(1, count + 1)}
    for each in copy:
        for at, entry in enumerate(each.massif.entries):
            if entry[:32] in keys:
                return each.massif.first_leaf + at
    return None


def other_leaf(event, sealed, refusal, copy):
    """What the copy, a list of massifs, has in the event's place; None if that is the event's leaf, or no leaf."""
    if height(event.index) != 0 or sealed.massif.node(event.index) == event.leaf():
        return None
    return OtherLeaf(event, sealed, refusal, copy)


def settle(findings, piece, others, proofs):
    """Whether no copy refuses the event, whose leaf all these proofs prove. Notes what does."""
    holders = {verdict.log_of(proof["log"]) for proof in proofs}
    by_first = any(not GENERATION.fullmatch(proof["log"].get("subject") or "") for proof in proofs)
    good = True
    for each in others:
        name = verdict.log_of(each.log)
        if name is None or name in holders:
            refuses = True
        elif holders and by_first and each.is_later and each.is_shared is None:
            findings.uncovered(piece, "unproven")
            refuses = False
        elif holders:
            refuses = each.is_later and each.is_shared and by_first
        else:
            refuses = each.is_same_event or not each.is_later
        if refuses:
            findings.refusal(piece, each.refusal)
            good = False
    return good
