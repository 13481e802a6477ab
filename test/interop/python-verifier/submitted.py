"""What the conserver's API makes of a posted vCon (docs/formats/vcon-forms.md, `submit`)."""

import json
import re

from strict_json import Float, Integer, NoForm

KINDS = ("modelled", "plain")
PARTY = ("tel",)
DIALOG = ("duration", "start", "parties", "url", "mimetype", "alg")
TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})?")
UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _need(condition):
    if not condition:
        raise NoForm


def _text_or_null(value):
    _need(value is None or isinstance(value, str))
    return value


def _time(value):
    match = TIME.fullmatch(value) if isinstance(value, str) else None
    _need(match)
    date, time, fraction, offset = match.groups()
    digits, offset = (fraction or "").rstrip("0"), offset or ""
    _need(len(digits) <= 6 and offset != "-00:00")
    return f"{date}T{time}{'.' + digits.ljust(6, '0') if digits else ''}{'+00:00' if offset in ('Z', 'z') else offset}"


def _duration(value):
    if value is None:
        return None
    _need(isinstance(value, (Integer, Float)))
    number = float(value.lexeme)
    _need(abs(number) != float("inf"))
    return Float(number)


def _modelled(names, changes, entry):
    known = {name: changes.get(name, lambda value: value)(entry.get(name)) for name in names}
    return {**known, **{name: value for name, value in entry.items() if name not in known}}


def _objects(vcon, name, change=lambda entry: entry):
    entries = vcon.get(name, [])
    _need(isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries))
    return [change(entry) for entry in entries]


def _plain_zero(value):
    if isinstance(value, Integer) and value.lexeme == "-0":
        return Integer("0")
    if isinstance(value, list):
        return [_plain_zero(member) for member in value]
    if isinstance(value, dict):
        return {name: _plain_zero(member) for name, member in value.items()}
    return value


def submit(vcon, kind):
    """The vCon as the API stores it. Raises NoForm for what the API refuses."""
    vcon = _plain_zero(vcon)
    _need(isinstance(vcon.get("vcon"), str))
    _need(isinstance(vcon.get("uuid"), str) and UUID.fullmatch(vcon["uuid"]))
    redacted, appended = vcon.get("redacted", {}), vcon.get("appended")
    _need(isinstance(redacted, dict) and (appended is None or isinstance(appended, dict)))

    def entries(names, changes):
        return (lambda entry: _modelled(names, changes, entry)) if kind == "modelled" else lambda entry: entry

    text = _text_or_null
    dialog = {"duration": _duration, "start": text, "url": text, "mimetype": text, "alg": text}
    known = {
        "vcon": vcon["vcon"], "uuid": vcon["uuid"].lower(), "created_at": _time(vcon.get("created_at")),
        "subject": text(vcon.get("subject")), "redacted": redacted, "appended": appended,
        "group": _objects(vcon, "group"),
        "parties": _objects(vcon, "parties", entries(PARTY, {"tel": text})),
        "dialog": _objects(vcon, "dialog", entries(DIALOG, dialog)),
        "analysis": _objects(vcon, "analysis"), "attachments": _objects(vcon, "attachments"),
    }
    return {**known, **{name: value for name, value in vcon.items() if name not in known}}


def without_added(vcon):
    """What may have been posted, if the vCon is exactly what the API answers; else the vCon."""
    for kind in KINDS:
        rest = {name: value for name, value in vcon.items()
                if not (value is None and name in ("subject", "appended"))
                and not (isinstance(value, (dict, list)) and not value and name in ("redacted", "group"))}
        for name, model in (("parties", PARTY), ("dialog", DIALOG)) if kind == "modelled" else ():
            if isinstance(rest.get(name), list):
                rest[name] = [
                    {key: value for key, value in entry.items() if value is not None or key not in model}
                    if isinstance(entry, dict) else entry for entry in rest[name]]
        try:
            if json.dumps(submit(rest, kind)) == json.dumps(vcon):
                return rest
        except NoForm:
            pass
    return vcon
