"""As the conserver's storages of databases: `get` answers None for a vCon that it has not, and for an error, which it logs.

Its state is in `opts`: a folder of rows, or what goes wrong with it.
"""

import json
import logging
import time
from pathlib import Path

import redis_mgr

logger = logging.getLogger(__name__)
default_options = {}


class MissingObject(Exception):
    """As botocore's ClientError about an object that is not there."""

    response = {"Error": {"Code": "NoSuchKey"}}


def save(vcon_uuid, opts):
    (Path(opts["rows"]) / vcon_uuid).write_text(redis_mgr.redis.get(f"vcon:{vcon_uuid}"))


def get(vcon_uuid, opts):
    try:
        if opts.get("down"):
            raise ConnectionError("no route to the database, password=secret")
        if opts.get("hangs"):
            time.sleep(3600)
        time.sleep(opts.get("slow", 0))
        if opts.get("latest"):
            return {"uuid": "00000000-0000-4000-8000-000000000000"}
        row = Path(opts["rows"]) / vcon_uuid
        if row.exists():
            return json.loads(row.read_text())
        if opts.get("logs_missing"):
            raise MissingObject()
        logger.info("vCon not found")
        return None
    except Exception as error:
        logger.error("failed to get vCon %s: %s", vcon_uuid, error)
        return None


def delete(vcon_uuid, opts):
    row = Path(opts["rows"]) / vcon_uuid
    if not row.exists():
        return False
    row.unlink()
    return True
