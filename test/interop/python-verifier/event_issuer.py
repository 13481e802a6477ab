"""Whether the pinned issuer recorded a proven event (docs/formats/verdict.md, rule 6)."""

from cose import statement_of
from refusal import Refused
from statement import TENANCY_ISSUER, Statement, check_agreement, is_tenancy_of, registered_entry


def check(findings, piece, event, log_issuer, trust, spoken=()):
    """Of an event that no statement is beside. `spoken` are the entries whose signature was checked."""
    made = _made_from(event, log_issuer)
    if made and made.message.entry() in spoken:
        return
    pin = trust.issuer
    if pin is None:
        findings.lacks("issuer")
        return
    named = TENANCY_ISSUER.fullmatch(pin)
    if named and named[1] == event.tenancy:
        if not is_tenancy_of(pin, log_issuer):
            findings.uncovered(piece, "unproven")
    elif made and made.issuer == pin:
        findings.uncovered(piece, "unproven")
    else:
        findings.refusal(piece, Refused("issuer_key_not_trusted", f"the event is of tenancy {event.tenancy}"))


def _made_from(event, log_issuer):
    """The registered statement in the event's attributes, if the event agrees with it."""
    carried = event.attributes.get("signed_statement")
    entry = registered_entry(carried) if isinstance(carried, str) else None
    try:
        made = entry and Statement(statement_of(entry))
        if made:
            check_agreement(event, made, log_issuer)
        return made
    except Refused:
        return None
