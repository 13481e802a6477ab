"""The options that the conserver's configuration gives this package."""

import re

from .operation_name import is_operation_name
from .record import logger

TEXT = "a text"
OPERATION = '1 to 64 letters, digits, "_" or "-" that do not look like a telephone number'
OPERATION_OR_NULL = f"null or {OPERATION}"
OPERATIONS = "a mapping of links to operations"
TENANCY = '1 to 64 letters, digits, "_", "-" or "."'
# The plugin has room for the id of an entry behind it.
MOST_OF_NONCE = 4_000
NONCE = f"a text of {MOST_OF_NONCE:,} characters or fewer"
SWITCH = "true or false"
ANYTHING = "anything"
# Of the link and the tracer.
LABELS = {"vcon_operation": OPERATION, "chain": TEXT, "tenancy": TENANCY, "nonce": NONCE, "stream": TEXT}


def _text_that(accepts):
    """Whether an option is a text, which may be empty, that is accepted as the stream's entry will have it."""

    def holds(value):
        # YAML reads a label of digits as a number or a date.
        return not isinstance(value, (bool, list, dict)) and (value == "" or accepts(str(value)))

    return holds


def _utf16_length(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


_HOLDS = {
    TEXT: _text_that(lambda text: True),
    OPERATION: _text_that(is_operation_name),
    OPERATION_OR_NULL: _text_that(is_operation_name),
    TENANCY: _text_that(lambda text: re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", text) is not None),
    NONCE: _text_that(lambda text: _utf16_length(text) <= MOST_OF_NONCE),
    OPERATIONS: lambda value: isinstance(value, dict),
    SWITCH: lambda value: isinstance(value, bool),
    ANYTHING: lambda value: True,
}
_said = set()


class OptionError(ValueError):
    """The configuration has a wrong option. The message says what to correct."""


def _right_and_wrong(options, accepted, within=""):
    """Returns the options that hold what `accepted` says, and what is wrong with each of the others."""
    right, faults = {}, []
    for name, value in options.items():
        kind = accepted.get(name)
        if kind is None:
            faults.append(f"there is no option {name}; the options are {', '.join(accepted)}")
        elif value is not None and not _HOLDS[kind](value):
            faults.append(f"option {within}{name} is {value!r:.200}, but must be {kind}")
        elif kind is OPERATIONS and value is not None:
            right[name], wrong = _right_and_wrong(value, dict.fromkeys(value, OPERATION_OR_NULL), f"{name}.")
            faults.extend(wrong)
        else:
            right[name] = value
    return right, faults


def right_and_wrong(options, accepted):
    """Returns the options that are right, and a sentence about each that is wrong.

    An option is wrong that has another name, or holds something else, than `accepted` says. One without a value
    (null) counts as left out.
    """
    if not isinstance(options, dict):
        return {}, ["the options must be a mapping of names to values"]
    return _right_and_wrong(options, accepted)


def check(options, accepted):
    """Raises OptionError with the first sentence of `right_and_wrong`, if there is one."""
    _right, faults = right_and_wrong(options, accepted)
    if faults:
        raise OptionError(faults[0])


def texts(options, name):
    """Returns the option as a list of texts; a single text is a list of one. Raises OptionError."""
    value = options.get(name)
    if value is None or value == "":
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise OptionError(f"option {name} is {value!r}, but must be a list of texts")


def say_once(level, text):
    """Logs what is wrong with the configuration, once in this process: options are read again for every vCon."""
    if text not in _said:
        _said.add(text)
        logger.log(level, text)
