"""Calls the link and the tracer as a conserver does: steps in on standard input, what came of each out.

A step is {"set": uuid, "document": text}, {"link": name, "uuid": uuid, "options": ...} or
{"tracer": [in, out], "links": [...], "index": n, "options": ...}.
"""

import json
import logging
import sys
import time

logging.disable(logging.CRITICAL)

import redis_mgr  # noqa: E402
import vcon_archivist_link  # noqa: E402
from vcon_archivist_link import tracer  # noqa: E402


def perform(step):
    if "set" in step:
        redis_mgr.redis.set(f"vcon:{step['set']}", step["document"])
        return None
    if "link" in step:
        return vcon_archivist_link.run(step["uuid"], step["link"], step.get("options"))
    before, after = step["tracer"]
    return tracer.run(before, after, "evidence", step["links"], step["index"], step.get("options"))


results = []
for step in json.load(sys.stdin):
    begun = time.perf_counter()
    try:
        result = {"answer": perform(step)}
    except Exception as error:
        result = {"raised": type(error).__name__}
    results.append({**result, "ms": (time.perf_counter() - begun) * 1000})
json.dump({"results": results, "entries": getattr(redis_mgr.redis, "entries", [])}, sys.stdout)
