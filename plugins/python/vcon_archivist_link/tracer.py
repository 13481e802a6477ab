"""A conserver tracer that records every link that changes a vCon, in every chain.

    tracers:
      evidence:
        module: vcon_archivist_link.tracer
        pip_name: /wheels/vcon_archivist_link-0.2.0-py3-none-any.whl
        options: {operations: {redact_card_numbers: vcon_party_redacted, tag: null}}

The conserver calls a tracer before the first link of a chain and after every link, in the thread that runs the chain. The
tracer compares the hash of the stored vCon before and after each link, and records only a difference.
"""

from __future__ import annotations

import logging
import threading

from .options import ANYTHING, LABELS, OPERATIONS, say_once, right_and_wrong
from .record import logger, read, record

DEFAULT_OPERATION = "vcon_enhanced"
# The conserver reads `dlq_vcon_on_error` itself.
OPTIONS: dict[str, str] = {**LABELS, "operations": OPERATIONS, "dlq_vcon_on_error": ANYTHING}
BEFORE_FIRST_LINK = -1
# Links that never change a vCon: if it differs after one of them, another chain has changed it.
CAPTURE_MODULES = ("vcon_archivist_link", "links.webhook")

# The hash of a vCon that is not stored. None is a state that is not known.
ABSENT = "absent"

# What the chain of this thread works on, by the name of the tracer: a conserver calls each tracer of its configuration.
_chains = threading.local()


class _Chain:
    """What one tracer knows of a chain.

    `vcon` is the UUID of the vCon, `hash` of what was stored when the last link ended. `seen` is the last hash that the
    vCon had, if it is gone.
    """

    vcon = hash = seen = None


def _chain_of(tracer_name):
    return _chains.__dict__.setdefault(tracer_name, _Chain())


def _forget(chain, vcon_uuid):
    """What is stored of this vCon is unknown until the next link has ended."""
    if chain.vcon != vcon_uuid:
        chain.seen = None
    chain.vcon, chain.hash = vcon_uuid, None


def _after(chain, one, other):
    """The vCon that a link left behind; None if the vCon before it is unknown.

    Conservers pass the two in either order, so the input is remembered.
    """
    if one == other:
        return one
    if chain.vcon == one:
        return other
    return one if chain.vcon == other else None


def _remember(chain, vcon_uuid, vcon):
    if vcon is not None:
        chain.seen = vcon.hash
    elif chain.vcon != vcon_uuid:
        chain.seen = None
    chain.vcon = vcon_uuid
    chain.hash = ABSENT if vcon is None else vcon.hash


def _remembered(chain):
    """The vCon that the last link left behind, and its hash: the last one that it had, if it was gone since."""
    return chain.vcon, (chain.seen or ABSENT) if chain.hash == ABSENT else chain.hash


def _config():
    try:
        from config import get_config

        return get_config() or {}
    except Exception:
        logger.warning("the conserver's configuration cannot be read", exc_info=True)
        return {}


def _is_capture_link(config, link_name):
    link = (config.get("links") or {}).get(link_name) or {}
    return link.get("module") in CAPTURE_MODULES


def _chain_name(config, links):
    """The only chain with these links; None when there are several. The conserver does not pass it to a tracer."""
    chains = config.get("chains") or {}
    names = [name for name, chain in chains.items() if (chain or {}).get("links") == links]
    return names[0] if len(names) == 1 else None


def _follows(vcon, before):
    """Whether the document itself says that it amends or redacts that vCon."""
    document = vcon.to_dict()
    references = (document.get(name) for name in ("amended", "redacted", "appended"))
    return any(isinstance(each, dict) and str(each.get("uuid")).lower() == before.lower() for each in references)


def _differs(vcon, before_hash):
    return vcon is not None and before_hash is not None and vcon.hash != before_hash


def _was_changed(vcon_uuid, vcon, before_uuid, before_hash, named):
    if before_hash is None:
        return False
    if vcon_uuid == before_uuid:
        return _differs(vcon, before_hash)
    # A link may continue with a vCon that it did not create. Only the document or the configuration shows that it did.
    return vcon is not None and (named or _follows(vcon, before_uuid))


def _trace(chain, vcon_uuid, links, link_index, opts):
    link_name = links[link_index]
    before_uuid, before_hash = _remembered(chain)
    vcon = read(vcon_uuid)
    _remember(chain, vcon_uuid, vcon)
    operations = opts.get("operations") or {}
    usual = opts.get("vcon_operation") or DEFAULT_OPERATION
    operation = operations.get(link_name, usual)
    if not operation:
        return
    was_changed = _was_changed(vcon_uuid, vcon, before_uuid, before_hash, link_name in operations)
    was_left = before_uuid != vcon_uuid and before_hash is not None
    if not (was_changed or was_left):
        return
    config = _config()
    if _is_capture_link(config, link_name):
        return
    labels = {**opts, "chain": opts.get("chain") or _chain_name(config, links)}
    if was_changed:
        _record(vcon_uuid, vcon, operation, link_name, labels)
    if was_left:
        _trace_left(before_uuid, before_hash, usual, link_name, labels)


def _record(vcon_uuid, vcon, operation, link_name, labels):
    """Records a change. What a failure leaves open is only whether it is recorded: the state after the link is known."""
    try:
        record(vcon_uuid, vcon, operation, "tracer", link_name, labels)
    except Exception:
        logger.exception("link %s changed vCon %s: this is perhaps not recorded", link_name, vcon_uuid)


def _trace_left(vcon_uuid, before_hash, usual, link_name, labels):
    """Records that a link changed the vCon which it did not continue with. The other one is recorded already.

    The name in `operations` belongs to the vCon that the link continues with: its original is not redacted.
    """
    try:
        left = read(vcon_uuid)
        if _differs(left, before_hash):
            _record(vcon_uuid, left, usual, link_name, labels)
    except Exception:
        logger.exception("link %s may have changed vCon %s, which it left", link_name, vcon_uuid)


def _right_options(opts, tracer_name):
    right, faults = right_and_wrong(opts, OPTIONS)
    for fault in faults:
        say_once(logging.ERROR, f"tracer {tracer_name}: {fault}")
    # Without its tenancy, a change would be recorded in another tenancy's log. The plugin sets a wrong one aside.
    return {**right, "tenancy": opts["tenancy"]} if isinstance(opts, dict) and "tenancy" in opts else right


def run(
    in_vcon_uuid: str,
    out_vcon_uuid: str,
    tracer_name: str,
    links: list[str],
    link_index: int,
    opts: dict[str, object] | None = None,
) -> None:
    """Records the link that has just ended, if it changed what is stored.

    Never raises: without options, that would cost the vCon its chain. If the vCon cannot be read, the state before the next
    link is unknown, so that a change by that link is not recorded, and the log says so. A wrong option is logged once, and what
    the other options say is recorded.
    """
    before_first = link_index == BEFORE_FIRST_LINK
    chain = _chain_of(tracer_name)
    vcon_uuid = in_vcon_uuid if before_first else _after(chain, in_vcon_uuid, out_vcon_uuid)
    try:
        opts = _right_options(opts or {}, tracer_name)
        if before_first:
            _forget(chain, None)
            _remember(chain, vcon_uuid, read(vcon_uuid))
        elif vcon_uuid is None:
            _forget(chain, None)
        else:
            _trace(chain, vcon_uuid, links, link_index, opts)
    except Exception:
        _forget(chain, vcon_uuid)
        logger.exception("tracer %s could not compare the vCon: its change is not recorded", tracer_name)
