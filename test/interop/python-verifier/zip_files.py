"""A zip in which all tools find the same files (docs/formats/bundle.md)."""

import struct
import zlib

LOCAL, LISTED, DESCRIPTOR, END = b"PK\3\4", b"PK\1\2", b"PK\7\x08", b"PK\5\6"
ZIP64_LOCATOR = b"PK\6\7"
STORED, DEFLATED = 0, 8
SIZES_FOLLOW, IN_UTF8, ALLOWED = 0x0008, 0x0800, 0x080E
OTHER_VALUES = (0x0001, 0x7075)
FILE_TYPES, FOLDER_TYPES = (0, 8), (0, 4)
LABEL, FOLDER = 0x08, 0x10


class BadZip(Exception):
    """Tools could unpack different files from it, or it is damaged."""


class Entry:
    """What the directory says of a file or folder; `content` unpacks it."""

    def __init__(self, name, method, crc, size, packed):
        self.name, self.size, self.packed_size = name, size, len(packed)
        self._method, self._crc, self._packed = method, crc, packed

    def content(self):
        data = self._packed
        if self._method == DEFLATED:
            stream = zlib.decompressobj(-15)
            try:
                data = stream.decompress(self._packed, self.size + 1)
            except zlib.error as error:
                raise BadZip(str(error)) from None
            _need(stream.eof and not stream.unused_data and not stream.unconsumed_tail)
        _need(len(data) == self.size and zlib.crc32(data) == self._crc)
        return data


def _need(condition):
    if not condition:
        raise BadZip("tools could read it differently, or it is damaged")


def _unpack(form, data, at):
    try:
        return struct.unpack_from("<" + form, data, at)
    except struct.error:
        raise BadZip("it is cut short") from None


def _header(data, at, name_at):
    """Method, flags, the three sizes and the name of either kind of header, and where its extra fields end."""
    flags, method, _, _, crc, packed, size, name_length, extra_length = _unpack("HHHHIIIHH", data, at)
    extra_at = name_at + name_length
    end = extra_at + extra_length
    _need(end <= len(data) and not flags & ~ALLOWED)
    while extra_at < end:
        kind, length = _unpack("HH", data, extra_at)
        _need(kind not in OTHER_VALUES)
        extra_at += 4 + length
    _need(extra_at == end)
    raw = data[name_at : name_at + name_length]
    try:
        name = raw.decode("utf-8" if flags & IN_UTF8 else "ascii")
    except UnicodeDecodeError:
        raise BadZip("a name is in an unknown encoding") from None
    _need("\0" not in name)
    return method, flags, (crc, packed, size), name, end


def _listed(data, at):
    _need(data[at : at + 4] == LISTED)
    method, flags, sizes, name, end = _header(data, at + 8, at + 46)
    comment_length, disk, _, attributes, place = _unpack("HHHII", data, at + 32)
    _need(disk == 0 and (method == DEFLATED or (method == STORED and sizes[1] == sizes[2])))
    is_folder = name.endswith("/")
    _need(attributes >> 28 in (FOLDER_TYPES if is_folder else FILE_TYPES))
    _need(not attributes & (LABEL if is_folder else LABEL | FOLDER))
    return (place, method, sizes, name), end + comment_length


def _after_data(data, at, flags, sizes):
    """Where the data descriptor ends, if there is one."""
    if not flags & SIZES_FOLLOW:
        return at
    at += 4 if data[at : at + 4] == DESCRIPTOR else 0
    _need(_unpack("III", data, at) == sizes)
    return at + 12


def entries(data):
    """The entries of a zip in the order of their data. Raises BadZip."""
    end = len(data) - 22
    _need(end >= 0 and data[end : end + 4] == END)
    disk, start_disk, here, count, length, start, comment = _unpack("HHHHIIH", data, end + 4)
    _need((disk, start_disk, comment) == (0, 0, 0) and here == count and start + length == end)
    _need(data[end - 20 : end - 16] != ZIP64_LOCATOR)
    listed, at = [], start
    for _ in range(count):
        entry, at = _listed(data, at)
        listed.append(entry)
    _need(at == end)
    found, following = [], 0
    for place, method, sizes, name in sorted(listed, key=lambda entry: entry[0]):
        _need(place == following and data[place : place + 4] == LOCAL)
        local_method, flags, said, local_name, data_at = _header(data, place + 6, place + 30)
        _need((local_method, local_name) == (method, name))
        zero = bool(flags & SIZES_FOLLOW)
        _need(all(one == other or (zero and one == 0) for one, other in zip(said, sizes)))
        data_end = data_at + sizes[1]
        following = _after_data(data, data_end, flags, sizes)
        if following != data_end and method == STORED:
            behind = (data.find(mark, data_at, data_end + 3) for mark in (DESCRIPTOR, LOCAL, LISTED))
            _need(not any(data_at <= at < data_end for at in behind))
        found.append(Entry(name, method, sizes[0], sizes[2], data[data_at:data_end]))
    _need(following == start)
    return found
