"""Why evidence does not verify."""


class Refused(Exception):
    """Evidence that contradicts itself, its keys or another piece. `code` is one of docs/formats/verdict.md."""

    def __init__(self, code, detail):
        super().__init__(detail)
        self.code = code


def require(condition, code, detail):
    """Raises Refused unless the condition holds."""
    if not condition:
        raise Refused(code, detail)
