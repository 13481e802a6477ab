"""Stands in for the conserver's module of this name: reads a vCon, and hashes it as the conserver does."""

import copy
import hashlib
import json

import redis_mgr


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
        return Vcon(json.loads(text)) if text else None
