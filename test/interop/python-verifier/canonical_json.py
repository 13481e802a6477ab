"""RFC 8785."""

import json

from strict_json import Float, Integer, NoForm, has_surrogate


def _number(value):
    """A number as ECMAScript writes it (RFC 8785 section 3.2.2.3)."""
    number = float(value.lexeme)
    if abs(number) == float("inf") or isinstance(value, Integer) and abs(number) > 2**53 - 1:
        raise NoForm
    if number == 0:
        return "0"
    mantissa, _, power = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    point = len(whole) + int(power or 0) - (len(digits) - len(digits.lstrip("0")))
    digits = digits.strip("0")
    count = len(digits)
    if count <= point <= 21:
        text = digits + "0" * (point - count)
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        rest = "." + digits[1:] if count > 1 else ""
        text = f"{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return ("-" if number < 0 else "") + text


def _write(value):
    if isinstance(value, (Integer, Float)):
        return _number(value)
    if isinstance(value, str):
        if has_surrogate(value):
            raise NoForm
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    if isinstance(value, dict):
        if any(map(has_surrogate, value)):
            raise NoForm
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{_write(name)}:{_write(value[name])}" for name in names) + "}"
    return json.dumps(value)


def text(value):
    """The canonical text; None for a value that has none."""
    try:
        return _write(value)
    except NoForm:
        return None
