"""Starts looking for the ends of vCons when a worker of the conserver imports it.

    imports:
      evidence_endings:
        module: vcon_archivist_link.watch
        pip_name: /wheels/vcon_archivist_link-0.2.0-py3-none-any.whl
        options: {not_asked: [crm_webhook]}

Where the conserver has no `imports`, `python -m vcon_archivist_link.watch` does the same in a process of its own, with the
conserver's PYTHONPATH, environment and config.yml.
"""

from .endings import run, start

if __name__ == "__main__":
    run()
else:
    start()
