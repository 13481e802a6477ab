"""A storage that only hands on: it can be asked for nothing."""

default_options = {}


def save(vcon_uuid, opts):
    pass
