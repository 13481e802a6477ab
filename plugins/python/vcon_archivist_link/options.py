"""The options that the conserver's configuration gives this package."""

from .record import logger

TEXT = "a text"
SWITCH = "true or false"
MAPPING = "a mapping"
ANYTHING = "anything"
# Of the link and the tracer. YAML reads a label of digits as a number or a date.
LABELS = {name: TEXT for name in ("vcon_operation", "chain", "tenancy", "nonce", "stream")}

_HOLDS = {
    TEXT: lambda value: not isinstance(value, (bool, list, dict)),
    SWITCH: lambda value: isinstance(value, bool),
    MAPPING: lambda value: isinstance(value, dict),
    ANYTHING: lambda value: True,
}
_said = set()


class OptionError(ValueError):
    """The configuration has a wrong option. The message says what to correct."""


def check(options, accepted):
    """Raises OptionError when an option has another name, or holds something else, than `accepted` says.

    An option without a value (null) counts as left out.
    """
    if not isinstance(options, dict):
        raise OptionError("the options must be a mapping of names to values")
    for name, value in options.items():
        if name not in accepted:
            raise OptionError(f"there is no option {name}; the options are {', '.join(accepted)}")
        if value is not None and not _HOLDS[accepted[name]](value):
            raise OptionError(f"option {name} is {value!r}, but must be {accepted[name]}")


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
