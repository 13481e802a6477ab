"""The conserver's `vcon_hook`, for its API: a deletion requests a check whether the vCon is gone.

    # api/vcon_hook.py of the image
    from vcon_archivist_link.vcon_hook import on_vcon_created, on_vcon_deleted
"""

from __future__ import annotations

from .endings import DELETED, request
from .record import logger


def on_vcon_created(vcon_id: str, vcon_dict: object, ingress_lists: object) -> None:
    """Does nothing: a creation is captured in the chain."""


def on_vcon_deleted(vcon_id: str) -> None:
    """Requests a check by a worker. The conserver also calls this when a storage failed. Never raises."""
    try:
        request(DELETED, str(vcon_id))
    except Exception:
        logger.exception("the deletion of vCon %s could not be queued for a check: it is not recorded", vcon_id)
