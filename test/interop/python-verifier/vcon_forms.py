"""The forms of a vCon that a digest may be of (docs/formats/vcon-forms.md)."""

import hashlib
import json
from decimal import Decimal

import canonical_json
import strict_json
import submitted
from refusal import Refused
from strict_json import Float, Integer, NoForm, has_surrogate

VCON_RENAMES = (("appended", "amended"), ("must_support", "critical"))
ENTRY_RENAMES = (("schema_version", "schema"), ("mimetype", "mediatype"), ("must_support", "critical"))
LISTS = ("dialog", "analysis", "attachments")
INFINITE = (float("inf"), float("-inf"))


def _fits_redis(number):
    return isinstance(number, Integer) and number.lexeme != "-0" and -(2**63) <= number < 2**64


def _redis(value):
    """Values as RedisJSON keeps them."""
    if isinstance(value, str):
        if has_surrogate(value):
            raise NoForm
        return value
    if isinstance(value, list):
        return [_redis(member) for member in value]
    if isinstance(value, dict):
        return {_redis(name): _redis(member) for name, member in value.items()}
    if not isinstance(value, (Integer, Float)) or _fits_redis(value):
        return value
    number = Float(float(value.lexeme))
    if number in INFINITE:
        raise NoForm
    return number


def _renamed(members, names):
    result = dict(members)
    for legacy, name in names:
        if legacy in result:
            value = result.pop(legacy)
            result.setdefault(name, value)
    return result


def _entries(vcon, name, change):
    if isinstance(vcon.get(name), list):
        vcon[name] = [change(entry) if isinstance(entry, dict) else entry for entry in vcon[name]]


def read(stored):
    """What a link reads from the conserver's store."""
    vcon = _renamed(_redis(stored), VCON_RENAMES)
    for name in LISTS:
        _entries(vcon, name, lambda entry: _renamed(entry, ENTRY_RENAMES))
    _entries(vcon, "attachments", lambda entry: entry if "purpose" in entry else _renamed(entry, (("type", "purpose"),)))
    return vcon


def store(vcon):
    """The same after a link wrote the vCon back."""
    if "uuid" not in vcon:
        raise NoForm
    vcon = {**vcon, "vcon": "0.4.0"}
    for name in ("group", "redacted"):
        if _is_empty(vcon.get(name)):
            del vcon[name]
    for name in ("analysis", "attachments"):
        _entries(vcon, name, _with_text_body)
    return vcon


def _with_text_body(entry):
    if not isinstance(entry.get("body"), (dict, list)):
        return entry
    return {**entry, "body": json.dumps(entry["body"]), "encoding": "json"}


def _is_empty(value):
    return isinstance(value, (dict, list)) and not value


def _keeps_digits(number):
    double = float(number.lexeme)
    return double not in INFINITE and Decimal(number.lexeme) == Decimal(repr(double))


def _numbers(value):
    if isinstance(value, (Integer, Float)):
        yield value
    elif isinstance(value, (list, dict)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _numbers(member)


def _keeps_read(vcon):
    """Whether a link finds every member of the file again."""
    objects = [(vcon, VCON_RENAMES)]
    for name in LISTS:
        entries = vcon.get(name)
        objects += [(each, ENTRY_RENAMES) for each in (entries if isinstance(entries, list) else []) if isinstance(each, dict)]
    one_of_both = all(not (legacy in members and name in members) for members, names in objects for legacy, name in names)
    return one_of_both and all(_fits_redis(each) or _keeps_digits(each) for each in _numbers(vcon))


def _keeps_store(vcon):
    """Whether nothing of the file is overwritten or removed as it is written back."""
    if vcon.get("vcon", "0.4.0") != "0.4.0" or any(_is_empty(vcon.get(name)) for name in ("group", "redacted")):
        return False
    for name in ("analysis", "attachments"):
        entries = vcon.get(name)
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict) and isinstance(entry.get("body"), (dict, list)):
                if entry.get("encoding", "json") != "json":
                    return False
    return True


def _sha256(text):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode("utf-8")).hexdigest()


def _conserver_forms(value):
    """Name, maker, and whether it goes through the store, in the order in which they are tried."""
    yield "upstream", lambda: read(value), False
    yield "stored", lambda: store(read(value)), True
    for kind in submitted.KINDS:
        yield "submitted", lambda: read(submitted.submit(value, kind)), False
        yield "submitted-stored", lambda: store(read(submitted.submit(value, kind))), True


def forms(data):
    """(form, SHA-256 in hex) of each form that the document has, in the order in which they are tried; `jcs` last."""
    found = [("raw", _sha256(data))]
    try:
        value, twice = strict_json.read(data)
    except Refused:
        return found
    if twice:
        return found
    if isinstance(value, dict) and strict_json.depth(value) <= 128:
        given = submitted.without_added(value)
        keeps_read, keeps_store = _keeps_read(given), _keeps_store(given)
        for name, make, through_store in _conserver_forms(value):
            if keeps_read and (keeps_store or not through_store):
                try:
                    found.append((name, _sha256(json.dumps(make()))))
                except NoForm:
                    pass
    text = canonical_json.text(value)
    if text is not None and all(_keeps_digits(each) for each in _numbers(value)):
        found.append(("jcs", _sha256(text)))
    return found
