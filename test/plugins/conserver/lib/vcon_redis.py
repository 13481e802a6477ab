"""Stands in for the conserver's module of this name: reads a vCon, and hashes it as the conserver does.

As in the conserver, a vCon that is not in Redis is fetched from a storage and put back, with a new time to live.
"""

import copy
import hashlib
import json

import redis_mgr
from config import get_config
from storage.base import Storage

EXPIRY_SECONDS = 3600


class Vcon:
    def __init__(self, document):
        self.vcon_dict = json.loads(json.dumps(document))

    def to_dict(self):
        return json.loads(self.dumps())

    def dumps(self):
        return json.dumps(copy.copy(self.vcon_dict))

    @property
    def hash(self):
        return hashlib.sha256(self.dumps().encode()).hexdigest()


class VconRedis:
    def get_vcon(self, vcon_id):
        text = redis_mgr.redis.get(f"vcon:{vcon_id}")
        if text:
            return Vcon(json.loads(text))
        document = self._from_storages(vcon_id)
        return Vcon(document) if document else None

    def _from_storages(self, vcon_id):
        for name in get_config().get("storages") or {}:
            document = Storage(name).get(vcon_id)
            if document:
                redis_mgr.redis.set(f"vcon:{vcon_id}", json.dumps(document), ex=EXPIRY_SECONDS)
                return document
        return None
