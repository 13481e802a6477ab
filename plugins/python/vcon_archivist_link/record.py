"""What is recorded of a completed operation: one entry of a Redis stream, without anything that a person said."""

import logging

from .facts import facts_of

STREAM = "vcon-evidence"

logger = logging.getLogger(__name__)


def read(vcon_uuid):
    """Returns the vCon as the conserver's links read it, or None when it is not in Redis.

    The conserver's own class is not asked about a vCon that is not there: it would fetch one from a storage and put it
    back into Redis. Raises what the conserver's Redis raises.
    """
    import redis_mgr
    from lib.vcon_redis import VconRedis

    if not redis_mgr.get_client().exists(f"vcon:{vcon_uuid}"):
        return None
    return VconRedis().get_vcon(vcon_uuid)


def append(stream, fields):
    """Appends one entry to the stream. It is never trimmed: the plugin deletes an entry after it has stored it."""
    import redis_mgr

    texts = {name: str(value) for name, value in fields.items() if value not in (None, "")}
    # A lone surrogate has no UTF-8 form, and Redis would refuse the whole entry.
    redis_mgr.get_client().xadd(stream or STREAM, {name: text.encode("utf-8", "replace") for name, text in texts.items()})


def record(vcon_uuid, vcon, operation, method, link_name, opts):
    """Appends the operation to the stream, with the conserver's own hash of the vCon as it was read.

    Raises what the conserver's Redis raises.
    """
    document = vcon.to_dict()
    append(
        opts.get("stream"),
        {
            "version": "1",
            "method": method,
            "operation": operation,
            "key": vcon_uuid,
            "hash": vcon.hash,
            "link": link_name,
            "chain": opts.get("chain"),
            "tenancy": opts.get("tenancy"),
            "nonce": opts.get("nonce"),
            **facts_of(document, len(vcon.dumps())),
        },
    )
