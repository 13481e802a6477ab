"""Asks each configured storage of the conserver whether it still has a vCon, without restoring anything into Redis.

A conserver's storage answers `get` with None both when it has no such vCon and when it could not be reached: it catches
the error and logs it. So the log is part of the answer here.
"""

import logging
import os
import sys
import threading
import time

from .record import logger

GONE = "gone"
HELD = "held"
FAILED = "failed"
NO_ANSWER = "no_answer"
CANNOT_BE_ASKED = "cannot_be_asked"
NOT_ASKED = "not_asked"

ANSWER_WITHIN_SECONDS = 30
# S3's error codes for a missing object.
MISSING_OBJECT = ("NoSuchKey", "404")

_asking = {}


class _Errors(logging.Handler):
    """Collects what this thread logs as an error, with the exception that was being handled."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.thread = threading.get_ident()
        self.caught = []

    def emit(self, record):
        if record.thread == self.thread:
            self.caught.append(sys.exc_info()[1])


def _means_missing(error):
    response = getattr(error, "response", None)
    details = response.get("Error") if isinstance(response, dict) else None
    return isinstance(details, dict) and str(details.get("Code")) in MISSING_OBJECT


def _heard(module, question):
    """Returns the answer to the question. Raises when the module logged an error instead of raising it."""
    own = getattr(module, "logger", None)
    listened = [logging.getLogger()] + ([own] if isinstance(own, logging.Logger) else [])
    if not all(each.isEnabledFor(logging.ERROR) for each in listened):
        raise RuntimeError("its errors are not logged, so that its answer cannot be trusted")
    errors = _Errors()
    for each in listened:
        each.addHandler(errors)
    try:
        answer = question()
    finally:
        for each in listened:
            each.removeHandler(errors)
    for error in errors.caught:
        if not _means_missing(error):
            raise RuntimeError("it logged an error") from error
    return answer


def _has(module, options, vcon_uuid):
    """Returns whether the storage has the vCon. Raises when it does not answer; LookupError when it cannot answer."""
    if callable(getattr(module, "exists", None)):
        if module.__name__.split(".")[-1] == "file":
            return _has_file(module, options or {}, vcon_uuid)
        return bool(_heard(module, lambda: module.exists(vcon_uuid, options)))
    if not callable(getattr(module, "get", None)):
        raise LookupError("it can neither get a vCon nor say whether it has one")
    document = _heard(module, lambda: module.get(vcon_uuid, options))
    found = document.get("uuid", vcon_uuid) if isinstance(document, dict) else vcon_uuid
    if str(found).lower() != vcon_uuid.lower():
        raise RuntimeError("it answered with another vCon")
    return document is not None


def _has_file(module, options, vcon_uuid):
    """It takes a folder that is missing, or that cannot be listed, for one without the vCon. Raises OSError for both."""
    if _heard(module, lambda: module.exists(vcon_uuid, options)):
        return True
    for _ in os.walk(options.get("path", module.default_options["path"]), onerror=_raise):
        pass
    return False


def _raise(error):
    raise error


def _answer(name, vcon_uuid):
    try:
        from storage.base import Storage

        storage = Storage(name)
        return HELD if _has(storage.module, storage.options, vcon_uuid) else GONE
    except LookupError as error:
        if str(error).startswith("it can neither"):
            return CANNOT_BE_ASKED
        logger.warning("storage %s did not say whether it has vCon %s: %r", name, vcon_uuid, error)
    except Exception as error:
        logger.warning("storage %s did not say whether it has vCon %s: %r", name, vcon_uuid, error)
    return FAILED


def ask_all(vcon_uuid, names, not_asked=()):
    """Returns the answer of each storage by its name: GONE, HELD, or why there is none.

    Storages are asked at once, each in a thread of its own, for 30 seconds at most. A storage that still hangs from an
    earlier question is not asked again.
    """
    answers = {name: NOT_ASKED if name in not_asked else NO_ANSWER for name in names}
    asked = []
    for name in names:
        earlier = _asking.get(name)
        if name in not_asked or (earlier and earlier.is_alive()):
            continue

        def ask(name=name):
            answers[name] = _answer(name, vcon_uuid)

        thread = threading.Thread(target=ask, daemon=True, name=f"vcon-evidence-{name}")
        _asking[name] = thread
        asked.append(thread)
        thread.start()
    until = time.monotonic() + ANSWER_WITHIN_SECONDS
    for thread in asked:
        thread.join(max(0.0, until - time.monotonic()))
    return dict(answers)
