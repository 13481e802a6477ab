"""What is recorded of a completed operation: one entry of a Redis stream, without anything that a person said."""

import hashlib
import json
import logging

STREAM = "vcon-evidence"

logger = logging.getLogger(__name__)


def _sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def _consents(vcon):
    """Digests of the attachments that give, or refuse, consent; equal however often the conserver stores them."""
    consents = []
    for attachment in vcon.get("attachments") or []:
        if not isinstance(attachment, dict):
            continue
        if "lawful_basis" not in (attachment.get("purpose"), attachment.get("type")):
            continue
        body = attachment.get("body")
        text = body if isinstance(body, str) else json.dumps(body)
        try:
            body = json.loads(text)
        except ValueError:
            continue
        if not isinstance(body, dict) or body.get("lawful_basis") != "consent":
            continue
        grants = body.get("purpose_grants")
        granted = [
            _sha256(json.dumps([attachment.get("party"), grant.get("purpose")]))
            for grant in (grants if isinstance(grants, list) else [])
            if isinstance(grant, dict) and grant.get("granted") is True
        ]
        consents.append({"digest": _sha256(text), "granted": sorted(set(granted))})
    return consents


def _predecessor(vcon, name):
    reference = vcon.get(name)
    return reference.get("uuid") if isinstance(reference, dict) else None


def record(vcon_uuid, operation, method, link_name, opts):
    """Appends the operation to the stream, with the conserver's own hash of the vCon as it is at this moment.

    Raises whatever the conserver's Redis raises, and LookupError when the vCon is no longer there.
    """
    import redis_mgr
    from lib.vcon_redis import VconRedis

    vcon = VconRedis().get_vcon(vcon_uuid)
    if vcon is None:
        raise LookupError(f"vCon {vcon_uuid} is not in Redis any more")
    document = vcon.to_dict()
    entry = {
        "version": "1",
        "method": method,
        "operation": operation,
        "uuid": document.get("uuid") or vcon_uuid,
        "hash": vcon.hash,
        "link": link_name,
        "chain": opts.get("chain"),
        "tenancy": opts.get("tenancy"),
        "nonce": opts.get("nonce"),
        "created_at": document.get("created_at"),
        "updated_at": document.get("updated_at"),
        "vcon": document.get("vcon"),
        "amended": _predecessor(document, "amended"),
        "redacted": _predecessor(document, "redacted"),
        # A signed or an encrypted vCon shows none, which does not mean that there are none.
        "consents": json.dumps(_consents(document)) if "uuid" in document else None,
    }
    fields = {name: str(value) for name, value in entry.items() if value not in (None, "")}
    # No trimming: an entry goes when the plugin has kept it.
    redis_mgr.get_client().xadd(opts.get("stream") or STREAM, fields)
