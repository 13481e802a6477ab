"""A conserver link that records an operation as one entry of a Redis stream.

    links:
      evidence_created:
        module: vcon_archivist_link
        pip_name: /wheels/vcon_archivist_link-0.2.0-py3-none-any.whl
        options: {vcon_operation: vcon_created, chain: main}
"""

from __future__ import annotations

from .options import ANYTHING, LABELS, SWITCH, check
from .record import logger, read, record

__version__ = "0.2.0"
default_options: dict[str, object] = {"vcon_operation": "vcon_enhanced"}
# The conserver reads `after_link` itself, for its hook.
OPTIONS: dict[str, str] = {**LABELS, "fail_open": SWITCH, "after_link": ANYTHING}


def run(vcon_uuid: str, link_name: str, opts: dict[str, object] | None = default_options) -> str:
    """Records the operation and continues the chain with the same vCon.

    When it cannot be recorded the vCon goes to the conserver's dead-letter list, unless `fail_open` is set: then the
    chain goes on and the log says what is missing. Raises OptionError in any case, before anything is recorded.
    """
    opts = opts or {}
    check(opts, OPTIONS)
    operation = opts.get("vcon_operation") or default_options["vcon_operation"]
    try:
        vcon = read(vcon_uuid)
        if vcon is None:
            raise LookupError(f"vCon {vcon_uuid} is not in Redis any more")
        record(vcon_uuid, vcon, operation, "link", link_name, opts)
    except Exception:
        if not opts.get("fail_open"):
            raise
        logger.exception("operation %s on vCon %s is not recorded", operation, vcon_uuid)
    return vcon_uuid
