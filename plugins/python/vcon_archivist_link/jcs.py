"""RFC 8785 (JSON Canonicalization Scheme) of a JSON text that Python has parsed."""

from __future__ import annotations

import json
import math

SAFE_INTEGER = 2**53 - 1
_quote = json.JSONEncoder(ensure_ascii=False).encode


class NoCanonicalForm(ValueError):
    """The document has no canonical form: a number is too large for a double, or a text has a lone surrogate."""


def _number(value):
    """A double as ECMAScript writes it; Python's repr has the same digits in a different form."""
    double = float(value)
    if not math.isfinite(double):
        raise NoCanonicalForm("a number is too large for a double")
    if double == 0:
        return "0"
    sign, text = ("-", repr(-double)) if double < 0 else ("", repr(double))
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + ("" if fraction == "0" else fraction)
    point = len(whole) + int(exponent or 0)
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    if 0 < point <= 21:
        digits = digits.ljust(point, "0")
        return sign + digits[:point] + ("." + digits[point:] if len(digits) > point else "")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def canonical(value: object) -> tuple[str, bool]:
    """Returns (text, lossy). It is lossy when an integer beyond 2^53-1 was rounded to a double.

    Raises NoCanonicalForm. Names are unique already: Python's reader has kept the last value of each.
    """
    lossy = False

    def write(value):
        nonlocal lossy
        if value is None or isinstance(value, bool):
            return "null" if value is None else str(value).lower()
        if isinstance(value, str):
            return _quote(value)
        if isinstance(value, (int, float)):
            try:
                text = _number(value)
            except OverflowError:
                raise NoCanonicalForm("a number is too large for a double") from None
            lossy = lossy or (isinstance(value, int) and abs(float(value)) > SAFE_INTEGER)
            return text
        if isinstance(value, list):
            return "[" + ",".join(map(write, value)) + "]"
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_quote(name)}:{write(value[name])}" for name in names) + "}"

    text = write(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NoCanonicalForm("a text has a lone surrogate") from None
    return text, lossy
