"""Builds the wheel with nothing but Python: `python3 build_wheel.py [folder]`, or as the backend of pip and `build`."""

import base64
import calendar
import gzip
import hashlib
import io
import pathlib
import sys
import tarfile
import zipfile

NAME = "vcon_archivist_link"
VERSION = "0.2.0"
HERE = pathlib.Path(__file__).resolve().parent
INFO = f"{NAME}-{VERSION}.dist-info"
METADATA = f"""Metadata-Version: 2.1
Name: vcon-archivist-link
Version: {VERSION}
Summary: Leaves evidence of completed vCon operations for vcon-archivist
Requires-Python: >=3.9
"""
WHEEL = """Wheel-Version: 1.0
Generator: vcon-archivist
Root-Is-Purelib: true
Tag: py3-none-any
"""
# One date for every file: the same source makes the same bytes.
DATE = (2026, 1, 1, 0, 0, 0)


def _recorded(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def _package():
    """The files of the package, by their paths in the wheel; `py.typed` says that they have type annotations (PEP 561)."""
    own = sorted(path for path in (HERE / NAME).iterdir() if path.suffix == ".py" or path.name == "py.typed")
    return {path.relative_to(HERE).as_posix(): path.read_bytes() for path in own}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: writes the wheel and answers its file name."""
    files = _package()
    files[f"{INFO}/METADATA"] = METADATA.encode()
    files[f"{INFO}/WHEEL"] = WHEEL.encode()
    record = f"{INFO}/RECORD"
    lines = [_recorded(name, content) for name, content in files.items()]
    files[record] = ("".join(lines) + f"{record},,\n").encode()
    wheel = f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: writes the archive of the sources, from which the same wheel is built, and answers its file name."""
    base = f"{NAME}-{VERSION}"
    files = {name: (HERE / name).read_bytes() for name in ("build_wheel.py", "pyproject.toml")}
    files.update(_package(), **{"PKG-INFO": METADATA.encode()})
    written = calendar.timegm(DATE)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size, entry.mtime, entry.mode = len(content), written, 0o644
            archive.addfile(entry, io.BytesIO(content))
    path = pathlib.Path(sdist_directory) / f"{base}.tar.gz"
    with path.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=written) as compressed:
        compressed.write(packed.getvalue())
    return path.name


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    folder.mkdir(parents=True, exist_ok=True)
    print(folder / build_wheel(folder))
