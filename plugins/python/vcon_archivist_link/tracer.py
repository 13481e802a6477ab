"""A conserver tracer that leaves evidence of every link of every chain.

    tracers:
      evidence:
        module: vcon_archivist_link.tracer
        pip_name: /wheels/vcon_archivist_link-0.1.0-py3-none-any.whl
        options: {operations: {redact_card_numbers: vcon_party_redacted, tag: null}}
"""

import threading

from .record import logger, record

DEFAULT_OPERATION = "vcon_enhanced"
BEFORE_FIRST_LINK = -1

_chain = threading.local()


def _after(one, other):
    """The vCon that a link left behind. A conserver names the two in either order, so what went in is remembered."""
    before = getattr(_chain, "vcon", None)
    return other if one == before else one


def run(in_vcon_uuid, out_vcon_uuid, tracer_name, links, link_index, opts=None):
    """Records the link that has just ended. Never raises: without options, that would cost the vCon its chain."""
    try:
        if link_index == BEFORE_FIRST_LINK:
            _chain.vcon = in_vcon_uuid
            return
        vcon_uuid = in_vcon_uuid if in_vcon_uuid == out_vcon_uuid else _after(in_vcon_uuid, out_vcon_uuid)
        _chain.vcon = vcon_uuid
        opts = opts or {}
        link_name = links[link_index]
        operation = (opts.get("operations") or {}).get(link_name, opts.get("vcon_operation") or DEFAULT_OPERATION)
        if operation:
            record(vcon_uuid, operation, "tracer", link_name, opts)
    except Exception:
        logger.exception("a link is not recorded by tracer %s", tracer_name)
