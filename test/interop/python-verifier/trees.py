"""RFC 9162 trees and Merkle mountain ranges (docs/formats/mmr.md)."""

import hashlib

from refusal import require

PATH = "inclusion_path_invalid"


def h(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def rfc9162_root(leaf, index, size, path):
    """RFC 9162 section 2.1.3.2."""
    require(0 <= index < size, PATH, "the tree has no such leaf")
    fn, sn, r = index, size - 1, leaf
    for p in path:
        require(sn != 0, PATH, "the path is too long")
        if fn % 2 == 1 or fn == sn:
            r = h(b"\x01", p, r)
            while fn % 2 == 0 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = h(b"\x01", r, p)
        fn, sn = fn >> 1, sn >> 1
    require(sn == 0, PATH, "the path is too short")
    return r


def rfc9162_nodes(leaf, index, size, path):
    """Every hash that a checked path proves, by the range of leaves under it."""
    splits, first, end = [], 0, size
    while end - first > 1:
        middle = first + (1 << ((end - first - 1).bit_length() - 1))
        splits.append((first, middle, end))
        first, end = (first, middle) if index < middle else (middle, end)
    yield (index, index + 1), leaf
    for sibling in path:
        first, middle, end = splits.pop()
        if index < middle:
            yield (middle, end), sibling
            leaf = h(b"\x01", leaf, sibling)
        else:
            yield (first, middle), sibling
            leaf = h(b"\x01", sibling, leaf)
        yield (first, end), leaf


def height(index):
    position = index + 1
    while position & (position + 1):
        position -= (1 << (position.bit_length() - 1)) - 1
    return position.bit_length() - 1


def node_of_leaf(leaf):
    return 2 * leaf - bin(leaf).count("1")


def parent(index, left, right):
    """The interior node at this index."""
    return h((index + 1).to_bytes(8, "big"), left, right)


def peaks(size):
    """Indices of the peaks, left to right; None for an incomplete size."""
    found, base, last = [], 0, None
    while size:
        tree = (1 << ((size + 1).bit_length() - 1)) - 1
        if last is not None and tree >= last:
            return None
        base, size, last = base + tree, size - tree, tree
        found.append(base - 1)
    return found


def leaf_count(size):
    count = 0
    while size:
        tree = (1 << ((size + 1).bit_length() - 1)) - 1
        count, size = count + (tree + 1) // 2, size - tree
    return count


def mmr_peak(index, value, path):
    """The peak that a leaf and its path lead to, and the peak's index."""
    require(0 <= index < 1 << 63, PATH, "the index is not in 0…2^63−1")
    require(height(index) == 0, PATH, "the node is not a leaf")
    require(len(path) <= 63, PATH, "the path is longer than a tree is high")
    for at, node in mmr_nodes(index, value, path):
        index, value = at, node
    return value, index


def mmr_nodes(index, value, path):
    """Every hash that a path proves, by node index; the last one is the peak."""
    yield index, value
    for g, sibling in enumerate(path):
        if height(index + 1) > g:
            yield index + 1 - (2 << g), sibling
            index += 1
            value = parent(index, sibling, value)
        else:
            yield index + (2 << g) - 1, sibling
            index += 2 << g
            value = parent(index, value, sibling)
        yield index, value


def bagged_root(nodes):
    root = nodes[-1]
    for node in reversed(nodes[:-1]):
        root = h(root, node)
    return root
