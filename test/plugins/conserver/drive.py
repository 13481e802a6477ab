"""Calls the wheel as a conserver does: steps in on standard input, what came of each out.

A step is {"set": uuid, "document": text}, {"take": uuid}: out of Redis, {"full": bool}: whether it takes entries, {"link": name, "uuid": uuid, "options": ...},
{"tracer": [in, out], "links": [...], "index": n, "name": text, "options": ...}, {"hook": uuid}, {"ask": uuid}, {"within": seconds}: so long a storage may take,
{"look": n}: looks until n reasons were taken, {"beat": true}: writes the heartbeat, {"configure": config}, {"configure_later": config, "seconds": s}, {"as_nobody": true}, {"work": seconds}: imports the module that looks, and lives so long, or
{"store": name, "uuid": uuid} and {"drop": name, "uuid": uuid}: a storage's own save and delete.
"""

import importlib
import json
import logging
import os
import sys
import time



class Log(logging.Handler):
    """Collects what the wheel tells the operator."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines = []

    def emit(self, record):
        self.lines.append(f"{record.levelname}: {record.getMessage()}")


log = Log()
logging.getLogger().addHandler(logging.NullHandler())
logging.getLogger("vcon_archivist_link").addHandler(log)

import config  # noqa: E402
import redis_mgr  # noqa: E402
import vcon_archivist_link  # noqa: E402
from vcon_archivist_link import endings, storages, tracer, vcon_hook  # noqa: E402


def look(count):
    taken = 0
    for _ in range(200):
        taken += 1 if endings.look_once() else 0
        if taken >= count:
            break
        time.sleep(0.05)
    return taken


def storage_of(name):
    from storage.base import Storage

    return Storage(name)


def perform(step):
    if "set" in step:
        redis_mgr.redis.set(f"vcon:{step['set']}", step["document"])
        return None
    if "take" in step:
        redis_mgr.redis.delete(f"vcon:{step['take']}")
        return None
    if "full" in step:
        redis_mgr.redis.full = step["full"]
        return None
    if "link" in step:
        return vcon_archivist_link.run(step["uuid"], step["link"], step.get("options"))
    if "hook" in step:
        return vcon_hook.on_vcon_deleted(step["hook"])
    if "ask" in step:
        return storages.ask_all(step["ask"], list(endings._config()["storages"]), step.get("not_asked") or ())
    if "within" in step:
        storages.ANSWER_WITHIN_SECONDS = step["within"]
        return None
    if "configure" in step:
        return config.configure(step["configure"])
    if "configure_later" in step:
        return config.configure(step["configure_later"], step["seconds"])
    if "as_nobody" in step:
        return os.setuid(65534)
    if "look" in step:
        return look(step["look"])
    if "beat" in step:
        return endings.beat()
    if "work" in step:
        importlib.import_module("vcon_archivist_link.watch")
        return time.sleep(step["work"])
    if "store" in step:
        return storage_of(step["store"]).save(step["uuid"])
    if "drop" in step:
        return storage_of(step["drop"]).delete(step["uuid"])
    before, after = step["tracer"]
    return tracer.run(before, after, step.get("name", "evidence"), step["links"], step["index"], step.get("options"))


results = []
for step in json.load(sys.stdin):
    begun = time.perf_counter()
    try:
        result = {"answer": perform(step)}
    except Exception as error:
        result = {"raised": type(error).__name__, "message": str(error)}
    results.append({**result, "ms": (time.perf_counter() - begun) * 1000})
json.dump({"results": results, "entries": getattr(redis_mgr.redis, "entries", []), "log": log.lines}, sys.stdout)
