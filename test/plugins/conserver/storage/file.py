"""A folder of files, as the conserver's own: `exists` takes a folder that is not there for one without the vCon."""

from pathlib import Path

import redis_mgr

default_options = {"path": "/data/vcons"}


def _file(vcon_uuid, opts):
    return Path(opts["path"]) / f"{vcon_uuid}.json"


def save(vcon_uuid, opts):
    _file(vcon_uuid, opts).write_text(redis_mgr.redis.get(f"vcon:{vcon_uuid}"))


def exists(vcon_uuid, opts):
    return _file(vcon_uuid, opts).exists()


def delete(vcon_uuid, opts):
    if not exists(vcon_uuid, opts):
        return False
    _file(vcon_uuid, opts).unlink()
    return True
