"""SGF files as UTF-8, decoded by the encoding that they name (CA) or by the likeliest one."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

#: Python's codec for a name in CA, if it is not the codec of that name: a superset, since programs
#: write GB2312 and Shift_JIS and mean the code pages of Windows.
_CODECS = {
    **dict.fromkeys(("gb2312", "gbk", "gb", "cp936", "xgbk", "euccn"), "gb18030"),
    **dict.fromkeys(("shiftjis", "sjis", "xsjis", "windows31j", "ms932"), "cp932"),
    **dict.fromkeys(("big5", "xbig5", "big5eten"), "cp950"),
    **dict.fromkeys(("euckr", "ksc5601", "ksc56011987", "windows949"), "cp949"),
    **dict.fromkeys(("iso88591", "latin1", "ansi"), "cp1252"),
}

#: The encodings of files that name none, and the characters that are frequent in each: Hangul, GB
#: 2312 and JIS level 1, kana, frequent Big5. Of two that fit as well, the earlier is taken, and
#: cp1252 last.
_FREQUENT = {
    "utf-8": rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}",
    "cp949": rb"[\xa1-\xa3\xb0-\xc8][\xa1-\xfe]",
    "gb18030": rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]",
    "cp950": rb"[\xa1-\xc6][\x40-\x7e\xa1-\xfe]",
    "cp932": rb"[\x81-\x83\x88-\x97][\x40-\x7e\x80-\xfc]",
    "euc_jp": rb"[\xa1\xa4\xa5\xb0-\xcf][\xa1-\xfe]",
}
_OTHER = rb"[\x80-\xff][\x40-\xff]|[\x80-\xff]"
_CANDIDATES = (*_FREQUENT, "cp1252")

# Text of one byte per character: the words, and the characters beside them that are usual.
_WORD = re.compile(r"[^\W\d_]+\\?")
_ODD_LATIN = re.compile("[\xc0-\xff]{2}|ƒ")  # accented letters stand alone
_QUOTED = re.compile(r"[“„«]([^“„«”»\]\\]*)[”“»]")
_USUAL = re.compile(r"(?<=[A-Za-z])’(?=[a-z])|(?<=\d)[½¼¾°ºª²³]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")

_PRIVATE_USE = re.compile("[\ue000-\uf8ff]")  # what code pages have in place of no character

#: Properties with which a game begins.
FIRST_PROPERTY = rb"(?:FF|GM|SZ|CA|AP|ST|GN|EV|RO|DT|PC|P[BW]|[BW]R|RE|KM|RU|HA|TM|US|SO|GC)"

_CA = re.compile(rb"(?<![A-Z])C[a-z]*A[a-z]*\s*\[\s*([\w.:+-]*)\s*\]")
_START = re.compile(rb"\(\s*;")
_GAME = re.compile(rb"\(\s*;\s*" + FIRST_PROPERTY + rb"\s*\[")
_ASCII = (
    "".join(map(chr, range(32, 127))) + r"\x41 \u0041 +AGE- ~{"
)  # escapes of utf-7, hz and others


def to_utf8(content: bytes) -> tuple[bytes, dict[str, str]]:
    """Return the content of a file in UTF-8, and by reason what is unusual about its encoding.

    The content is decoded before it is parsed, since the second byte of a character may be a
    backslash or a bracket. Every game of a collection may name its own encoding; one that names
    none has that of the game before it, if it fits.
    """
    for mark, codec in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            text = content.decode(codec, "replace")
            return text.encode(), _replaced(text, codec)
    if content.isascii():
        return content, {}
    notes: dict[str, str] = {}
    parts = [_part(part, name, notes) for part, name in _by_encoding(content)]
    return b"".join(parts), notes


def _by_encoding(content: bytes) -> list[tuple[bytes, str | None]]:
    """Cut the content at each game that names another encoding than the one before."""
    named = [(match.start(), match[1].decode()) for match in _CA.finditer(content) if match[1]]
    if len({name.lower() for _, name in named}) < 2:
        return [(content, named[0][1] if named else None)]
    starts = [match.start() for match in _START.finditer(content)] or [0]
    cuts = [(starts[max(bisect_right(starts, at) - 1, 0)], name) for at, name in named]
    ends = [start for start, _ in cuts[1:]] + [len(content)]
    head = [(content[: cuts[0][0]], cuts[0][1])]
    return head + [(content[at:end], name) for (at, name), end in zip(cuts, ends, strict=True)]


def _part(content: bytes, name: str | None, notes: dict[str, str]) -> bytes:
    """Decode a part of a file by the encoding that it names, or by the likeliest one."""
    if content.isascii():
        return content
    named = None if name is None else _codec(name)
    pieces = _decodable(content, named)
    used = " and ".join(dict.fromkeys(codec for piece, codec in pieces if not piece.isascii()))
    if name is None:
        notes["no encoding named (CA)"] = f"read as {used}"
    elif named is None:
        notes["an unknown encoding (CA)"] = f"CA[{name}], read as {used}"
    elif used != named:
        notes["another encoding than CA says"] = f"CA[{name}], read as {used}"
    texts = [piece.decode(codec, "replace") for piece, codec in pieces]
    notes.update(_replaced("".join(texts), used))
    return "".join(texts).encode()


def _decodable(content: bytes, named: str | None) -> list[tuple[bytes, str]]:
    """Return the content with its encoding; game by game if the games differ in it."""
    codec = _likeliest(content, named)
    starts = [match.start() for match in _GAME.finditer(content)][1:]
    games = [content[start:end] for start, end in pairwise([0, *starts, len(content)])]
    single = codec == named and _is_single_byte(codec)  # fits any content
    if _fits(content, codec) and not single:
        codecs_of_games = ["utf-8" if _is_utf8(game, codec) else codec for game in games]
    elif named is not None:
        codecs_of_games = [_likeliest(game, named) for game in games]
    else:
        alone = Counter(_best(game, _CANDIDATES) for game in games if not game.isascii())
        usual = alone.most_common(1)[0][0]
        codecs_of_games = [_best(game, (usual, *_CANDIDATES)) for game in games]
    return list(zip(games, codecs_of_games, strict=True))


def _likeliest(content: bytes, named: str | None) -> str:
    if named is None:
        return _best(content, _CANDIDATES)
    if not _fits(content, named):
        return _best(content, (named, *_CANDIDATES))
    if _is_single_byte(named):
        return _best(content, (named, *(one for one in _FREQUENT if _fits(content, one))))
    return "utf-8" if _is_utf8(content, named) else named


def _is_utf8(content: bytes, codec: str) -> bool:
    """Return whether content is UTF-8, whose bytes are hardly ever valid by chance."""
    return _fits(content, "utf-8") and _rare(content, codec) > 0


def _best(content: bytes, candidates: Iterable[str]) -> str:
    """Return the first of the encodings in which the fewest characters are rare."""
    return min(candidates, key=lambda codec: _rare(content, codec) + (not _fits(content, codec)))


def _replaced(text: str, codec: str) -> dict[str, str]:
    damaged = text.count("\ufffd")
    return {"damaged text": f"{damaged} characters are not {codec}"} if damaged else {}


def _codec(name: str) -> str | None:
    """Return the codec of a name in CA; None if Python has no ASCII-compatible one of that name."""
    bare = re.sub(r"[^a-z0-9]", "", name.lower())
    codec = _CODECS.get(bare, name)
    try:
        codec = codecs.lookup(codec).name
        fits = _ASCII.encode().decode(codec) == _ASCII
    except (LookupError, ValueError):
        return None
    return codec if fits else None


def _fits(content: bytes, codec: str) -> bool:
    try:
        return _PRIVATE_USE.search(content.decode(codec)) is None
    except ValueError:
        return False


def _is_single_byte(codec: str) -> bool:
    return len(bytes(range(128, 256)).decode(codec, "replace")) == 128


def _rare(content: bytes, codec: str) -> int:
    """Count the characters that are not frequent in an encoding."""
    if codec not in _FREQUENT and _is_single_byte(codec):
        return _rare_letters(content.decode(codec, "replace"))
    frequent = _FREQUENT.get(codec, rb"(?!)")
    return sum(map(bool, re.findall(frequent + rb"|(" + _OTHER + rb")", content)))


def _rare_letters(text: str) -> int:
    """Count what is unusual in a text in Latin, Cyrillic or another alphabet."""
    text = _USUAL.sub("", _QUOTED.sub(r"\1", text))
    rare = len(_NOT_ASCII.findall(text))
    for word in _WORD.findall(text):
        if word.isascii():
            continue
        letters = _NOT_ASCII.findall(word)
        if max(word) < "\u0370":
            odd = len(_ODD_LATIN.findall(word))
        else:
            plain = word in (word.lower(), word.upper(), word.capitalize())
            odd = 0 if plain and len(letters) == len(word.rstrip("\\")) else len(letters)
        if word.endswith("\\") and not word[-2].isascii():  # the end of two bytes
            odd = max(odd, 1)
        rare -= len(letters) - odd
    return rare
