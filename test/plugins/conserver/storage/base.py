"""Stands in for the conserver's module of this name: a storage by its name in the configuration, imported once."""

import importlib

from config import get_config


class Storage:
    def __init__(self, storage_name):
        storage = get_config()["storages"][storage_name]
        self.module = importlib.import_module(storage["module"])
        self.options = storage.get("options", self.module.default_options)

    def save(self, vcon_id):
        self.module.save(vcon_id, self.options)

    def get(self, vcon_id):
        if hasattr(self.module, "get"):
            return self.module.get(vcon_id, self.options)
        return None

    def delete(self, vcon_id):
        if hasattr(self.module, "delete"):
            return self.module.delete(vcon_id, self.options)
        return False
