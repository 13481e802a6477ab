"""Finds out whether a vCon has ended: gone from the conserver's Redis and from every storage.

A reason to look (a notification that the plugin heard, or the conserver's hook) is kept in a sorted set of the
conserver's Redis, due at its score, until one worker has looked and its finding is recorded. All workers take from it.

    <stream>:look        sorted set of `deleted:<uuid>` and `expired:<uuid>`, by the milliseconds at which they are due
    <stream>:look:tries  hash: how many looks of each had no final answer
    <stream>:looker      hash: when a worker last looked for something to do, what came of the looks, and when of each last
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable

from .options import ANYTHING, TEXT, OptionError, check, say_once, texts
from .record import STREAM, logger
from .storages import CANNOT_BE_ASKED, GONE, HELD, NOT_ASKED, ask_all

IMPORTED_AS = "vcon_archivist_link.watch"
OPTIONS = {"stream": TEXT, "not_asked": ANYTHING}
DELETED = "deleted"
EXPIRED = "expired"
# The conserver deletes from its Redis first, then from its storages one by one.
GRACE_SECONDS = 10
# Between checks of a vCon that some storage still has, or for which some storage does not answer.
WAITS = {DELETED: (30, 120), EXPIRED: (60, 600, 3600, 6 * 3600)}
# Longer than any check: after that, the worker that took it has died.
LEASE_SECONDS = 120
IDLE_SECONDS = 2
BEAT_SECONDS = 30

NOW = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) "
TAKE = (
    NOW
    + """
local member = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1)[1]
if not member then return false end
local lease = now + ARGV[1]
redis.call('ZADD', KEYS[1], lease, member)
return {member, string.format('%.0f', lease), redis.call('HGET', KEYS[2], member) or '0'}"""
)
POSTPONE = (
    NOW
    + """
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or -1) ~= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
return 1"""
)
# A vCon that was stored again in the meantime has not ended.
# A check that another worker has taken over, or that was requested again, stays.
FINISH = (
    NOW
    + """
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or -1) ~= tonumber(ARGV[2]) then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
local outcome = ARGV[3]
if #ARGV > 3 then
  if redis.call('EXISTS', KEYS[4]) == 1 then outcome = 'in_redis'
  else redis.call('XADD', KEYS[3], '*', unpack(ARGV, 4)) end
end
redis.call('HINCRBY', KEYS[5], outcome, 1)
redis.call('HSET', KEYS[5], outcome .. '_ms', string.format('%.0f', now))
return 1"""
)


def _client():
    import redis_mgr

    return redis_mgr.get_client()


def _config():
    from config import get_config

    return get_config() or {}


# A file that is being written is half there for less than this.
SETTLED_SECONDS = 1
_settling = threading.local()


def _settled_config():
    """The configuration, once it has chains and has been the same for a second.

    An empty or half-written file names no storage, and a vCon that no storage is asked for would seem to have ended. Raises
    LookupError while there is no chain, which is no conserver's configuration.
    """
    while True:
        config = _config()
        if not config.get("chains"):
            raise LookupError("the configuration has no chains at the moment")
        now = time.monotonic()
        if config != getattr(_settling, "config", None):
            _settling.config, _settling.since = config, now
        if now - _settling.since >= SETTLED_SECONDS:
            return config
        time.sleep(SETTLED_SECONDS)


def _now_ms(client):
    """The clock of the conserver's Redis, which all workers share."""
    seconds, microseconds = client.time()
    return seconds * 1000 + microseconds // 1000


def _options():
    """The options of this module's entry among the conserver's `imports`."""
    for entry in (_config().get("imports") or {}).values():
        if isinstance(entry, dict) and entry.get("module") == IMPORTED_AS:
            return entry.get("options") or {}
    return {}


def _checked():
    """Returns the options, checked, so that a misspelt name does not go unnoticed. Raises OptionError."""
    options = _options()
    check(options, OPTIONS)
    return options


def _keys(options):
    stream = options.get("stream") or STREAM
    return stream, f"{stream}:look", f"{stream}:look:tries", f"{stream}:looker"


def request(reason: str, vcon_uuid: str) -> None:
    """Stores a reason to check: `deleted` or `expired`. A second one for the same vCon causes no second check.

    Raises what the conserver's Redis raises.
    """
    _stream, look, tries, _looker = _keys(_options())
    client, member = _client(), f"{reason}:{vcon_uuid}"
    client.pipeline().hdel(tries, member).zadd(look, {member: _now_ms(client) + GRACE_SECONDS * 1000}, lt=True).execute()


def _finding(reason, answers, last):
    """Returns the result of the answers: an operation to record, `held` or `unanswered`, or None to check again."""
    if all(answer in (GONE, NOT_ASKED) for answer in answers.values()):
        return "vcon_deleted" if reason == DELETED else "vcon_expired"
    if reason == EXPIRED and HELD in answers.values():
        return "held"
    if not last:
        return None
    return "vcon_deletion_incomplete" if reason == DELETED else "unanswered"


def _look(options, not_asked, taken):
    member, lease, tries = taken
    stream, look, tries_key, looker = _keys(options)
    reason, _, vcon_uuid = member.partition(":")
    client, key = _client(), f"vcon:{vcon_uuid}"

    def finish(outcome, fields=()):
        return client.eval(FINISH, 5, look, tries_key, stream, key, looker, member, lease, outcome, *fields)

    if reason not in WAITS or not vcon_uuid:
        return finish("unknown")
    if client.exists(key):
        return finish("in_redis")
    names = list(_settled_config().get("storages") or {})
    answers = ask_all(vcon_uuid, names, not_asked)
    waits = WAITS[reason]
    # A storage that cannot answer will not do so later.
    hopeless = any(answer == CANNOT_BE_ASKED for answer in answers.values()) and HELD not in answers.values()
    operation = _finding(reason, answers, int(tries) >= len(waits) or (hopeless and reason == EXPIRED))
    if operation is None:
        return client.eval(POSTPONE, 2, look, tries_key, member, lease, int(waits[int(tries)] * 1000))
    if not operation.startswith("vcon_"):
        if operation == "unanswered":
            logger.error("it is unknown whether vCon %s has ended: no end is recorded: %s", vcon_uuid, answers)
        return finish(operation)
    fields = {
        "version": "1",
        "method": "storages",
        "operation": operation,
        "key": vcon_uuid,
        "storages": json.dumps(answers, sort_keys=True),
    }
    return finish(operation, [text for pair in fields.items() for text in pair])


def look_once() -> bool:
    """Takes the next check that is due and runs it. Returns whether there was one.

    Raises what the conserver's Redis or its configuration raises; the reason is then taken again after its lease. Raises
    OptionError before it takes a check.
    """
    options = _checked()
    not_asked = texts(options, "not_asked")
    _stream, look, tries, _looker = _keys(options)
    taken = _client().eval(TAKE, 2, look, tries, LEASE_SECONDS * 1000)
    if not taken:
        return False
    _look(options, not_asked, [each.decode() if isinstance(each, bytes) else each for each in taken])
    return True


def _told(name, names):
    """A name of `not_asked` for the heartbeat, which `doctor` shows. A wrong one is also logged."""
    if name in names:
        return name
    say_once(logging.WARNING, f"option not_asked names {name}, but there is no such storage")
    return f"{name} (no such storage)"


def beat() -> None:
    """Writes the heartbeat: that a worker is running, and which storages it checks. Raises OptionError."""
    from . import __version__

    options = _checked()
    _stream, _look_key, _tries, looker = _keys(options)
    client = _client()
    names = sorted(_config().get("storages") or {})
    not_asked = sorted(_told(name, names) for name in texts(options, "not_asked"))
    told = {"storages": json.dumps(names), "not_asked": json.dumps(not_asked)}
    client.hset(looker, mapping={"beat": _now_ms(client), "version": __version__, **told})


def run(stopped: Callable[[], bool] = lambda: False) -> None:
    """Runs checks until the process ends. A failure is logged, and the check is retried later."""
    beaten = None
    while not stopped():
        try:
            if beaten is None or time.monotonic() - beaten > BEAT_SECONDS:
                beat()
                beaten = time.monotonic()
            if look_once():
                continue
        except OptionError as error:
            say_once(logging.ERROR, f"ended vCons are not checked: {error}")
        except Exception:
            logger.exception("the check for ended vCons failed; it is retried")
        time.sleep(IDLE_SECONDS)


_started_in = None


def start() -> None:
    """Starts one thread in this process that runs checks. It ends with the process, and keeps nothing in memory."""
    global _started_in
    if _started_in == os.getpid():
        return
    _started_in = os.getpid()
    threading.Thread(target=run, daemon=True, name="vcon-evidence-endings").start()
