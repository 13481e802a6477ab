"""JSON with one reading, and JSON that keeps the spelling of numbers (docs/formats/event.md, vcon-forms.md)."""

import json
import re
import sys

from refusal import Refused

_SURROGATE = re.compile("[\ud800-\udfff]")
MOST_DEPTH = 900
sys.set_int_max_str_digits(0)


class NoForm(Exception):
    """A document has no such form."""


class Integer(int):
    """An integer, with its spelling."""

    def __new__(cls, text):
        made = super().__new__(cls, text)
        made.lexeme = str(text)
        return made


class Float(float):
    """A number with a point or an exponent, with its spelling."""

    def __new__(cls, text):
        made = super().__new__(cls, text)
        made.lexeme = text if isinstance(text, str) else repr(text)
        return made


def _constant(name):
    raise ValueError(f"{name} is no JSON")


def depth(value):
    """Levels of lists and objects."""
    levels, level = 0, [value]
    while level := [each for each in level if isinstance(each, (list, dict))]:
        levels += 1
        level = [m for each in level for m in (each.values() if isinstance(each, dict) else each)]
    return levels


def read(data):
    """The value, and whether a name stands twice in it. Raises Refused("malformed")."""
    twice = []

    def members(pairs):
        result = dict(pairs)
        if len(result) != len(pairs):
            twice.append(True)
        return result

    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        value = json.loads(text, object_pairs_hook=members, parse_constant=_constant,
                           parse_int=Integer, parse_float=Float)
        if depth(value) > MOST_DEPTH:
            raise ValueError("nested too deeply")
        return value, bool(twice)
    except (ValueError, RecursionError):
        raise Refused("malformed", "not JSON that every reader agrees on") from None


def unambiguous(data):
    """The value of JSON that is evidence."""
    value, twice = read(data)
    if twice:
        raise Refused("malformed", "a name stands twice in one object")
    return value


def has_surrogate(text):
    return _SURROGATE.search(text) is not None
