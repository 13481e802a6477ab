"""Which names of operations the plugin records. A test holds this equal to the plugin's own rule."""

from __future__ import annotations

import re

_FORM = re.compile(r"[A-Za-z0-9_-]{1,64}")

_NO_DIGIT_BEFORE = r"(?<!\d)(?<!\d[ _-])(?<!\d[ _-]{2})(?<!\d[ _-]{3})"
_NO_DIGIT_AFTER = r"(?![ _-]{0,3}\d)"
_YEAR = r"(?:19|20)\d{2}"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12]\d|3[01])"
_OFFSET = r"-(?:0\d|1[0-4])(?:00|15|30|45)"

# A year and one number, as of a regulation: `vcon_gdpr_2016_679`.
_NUMBER_OF_YEAR = rf"{_NO_DIGIT_BEFORE}(?:{_YEAR}_\d{{1,5}}|\d{{1,5}}_{_YEAR}){_NO_DIGIT_AFTER}"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATE = (
    rf"(?<!\d)(?:{_YEAR}(-?){_MONTH}\1{_DAY}|{_YEAR}-(?:[1-9]|1[0-2])-(?:[1-9]|[12]\d|3[01])|{_DAY}-{_MONTH}-{_YEAR})"
    rf"(?:[T -]?[0-2]\d-?[0-5]\d(?:-?[0-5]\d)?(?:{_OFFSET})?)?(?!\d)"
)
_YEARS = rf"{_NO_DIGIT_BEFORE}{_YEAR}(?:-{_YEAR})+{_NO_DIGIT_AFTER}"
_VERSION = r"(?<![a-z0-9])v\d{1,2}(?:-\d{1,2})?-\d{1,3}(?!-{0,3}\d)"
_LONG_NUMBER = r"\d{16,}"

_FIRST = re.compile(_NUMBER_OF_YEAR, re.ASCII)
_ORDINARY = [
    re.compile(_UUID, re.ASCII | re.IGNORECASE),
    re.compile(_DATE, re.ASCII),
    re.compile(_YEARS, re.ASCII),
    re.compile(_VERSION, re.ASCII | re.IGNORECASE),
    re.compile(_LONG_NUMBER, re.ASCII),
]
_NUMBER = re.compile(r"\d(?:[ -]*\d)+", re.ASCII)
# A telephone number without its area code has seven digits.
_LEAST_DIGITS = 7


def is_operation_name(text: str) -> bool:
    """Whether a text has the form of an operation's name and does not look like a telephone number."""
    if not _FORM.fullmatch(text):
        return False
    rest = _FIRST.sub(" x ", text).replace("_", "-")
    for form in _ORDINARY:
        rest = form.sub(" x ", rest)
    return all(sum(char.isdigit() for char in run) < _LEAST_DIGITS for run in _NUMBER.findall(rest))
