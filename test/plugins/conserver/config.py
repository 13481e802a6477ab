"""Stands in for the conserver's module of this name: its configuration, read again at each call."""

import json
import os


def get_config():
    return json.loads(os.environ.get("CONSERVER_CONFIG") or "{}")
