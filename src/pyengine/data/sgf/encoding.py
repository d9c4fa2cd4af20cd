"""Conversion of SGF files to UTF-8, from the encoding in CA or the most likely one."""

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

#: Python's codecs for names in CA. They are supersets, since programs that write GB2312 or
#: Shift_JIS mean the Windows code pages.
_CODECS = {
    **dict.fromkeys(("gb2312", "gbk", "gb", "cp936", "xgbk", "euccn"), "gb18030"),
    **dict.fromkeys(("shiftjis", "sjis", "xsjis", "windows31j", "ms932"), "cp932"),
    **dict.fromkeys(("big5", "xbig5", "big5eten"), "cp950"),
    **dict.fromkeys(("euckr", "ksc5601", "ksc56011987", "windows949"), "cp949"),
    **dict.fromkeys(("iso88591", "latin1", "ansi"), "cp1252"),
}

#: Candidates for files without CA, in order of preference, with the frequent characters of each:
#: Hangul, GB 2312 and JIS level 1, kana, frequent Big5. The last candidate is cp1252.
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

# Text in single-byte encodings: words, and characters common next to them.
_WORD = re.compile(r"[^\W\d_]+\\?")
_ODD_LATIN = re.compile("[\xc0-\xff]{2}|ƒ")  # accented letters stand alone
_QUOTED = re.compile(r"[“„«]([^“„«”»\]\\]*)[”“»]")
_USUAL = re.compile(r"(?<=[A-Za-z])’(?=[a-z])|(?<=\d)[½¼¾°ºª²³]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")

_PRIVATE_USE = re.compile("[\ue000-\uf8ff]")  # code pages map undefined bytes to these

#: Properties that may come first in a game.
FIRST_PROPERTY = rb"(?:FF|GM|SZ|CA|AP|ST|GN|EV|RO|DT|PC|P[BW]|[BW]R|RE|KM|RU|HA|TM|US|SO|GC)"

_CA = re.compile(rb"(?<![A-Z])C[a-z]*A[a-z]*\s*\[\s*([\w.:+-]*)\s*\]")
_START = re.compile(rb"\(\s*;")
_GAME = re.compile(rb"\(\s*;\s*" + FIRST_PROPERTY + rb"\s*\[")
_ASCII = (
    "".join(map(chr, range(32, 127))) + r"\x41 \u0041 +AGE- ~{"
)  # escapes of utf-7, hz and others


def to_utf8(content: bytes) -> tuple[bytes, dict[str, str]]:
    """Return the content of a file in UTF-8, and notes on its encoding by reason.

    The content is decoded before parsing, since the second byte of a character may be a backslash
    or a bracket. Each game of a collection may name an encoding in CA. A game without CA has the
    encoding of the previous game if it fits.
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
    """Split the content at each game that names an encoding different from the previous one."""
    named = [(match.start(), match[1].decode()) for match in _CA.finditer(content) if match[1]]
    if len({name.lower() for _, name in named}) < 2:
        return [(content, named[0][1] if named else None)]
    starts = [match.start() for match in _START.finditer(content)] or [0]
    cuts = [(starts[max(bisect_right(starts, at) - 1, 0)], name) for at, name in named]
    ends = [start for start, _ in cuts[1:]] + [len(content)]
    head = [(content[: cuts[0][0]], cuts[0][1])]
    return head + [(content[at:end], name) for (at, name), end in zip(cuts, ends, strict=True)]


def _part(content: bytes, name: str | None, notes: dict[str, str]) -> bytes:
    """Decode a part of a file with the encoding in CA, or the most likely one."""
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
        notes["encoding differs from CA"] = f"CA[{name}], read as {used}"
    texts = [piece.decode(codec, "replace") for piece, codec in pieces]
    notes.update(_replaced("".join(texts), used))
    return "".join(texts).encode()


def _decodable(content: bytes, named: str | None) -> list[tuple[bytes, str]]:
    """Return the content with its encoding, split by game if the encodings differ."""
    codec = _likeliest(content, named)
    starts = [match.start() for match in _GAME.finditer(content)][1:]
    games = [content[start:end] for start, end in pairwise([0, *starts, len(content)])]
    single = codec == named and _is_single_byte(codec)  # decodes any content
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
        return _best(content, (named, *(codec for codec in _FREQUENT if _fits(content, codec))))
    return "utf-8" if _is_utf8(content, named) else named


def _is_utf8(content: bytes, codec: str) -> bool:
    """Return whether content is UTF-8; other text is hardly ever valid UTF-8 by chance."""
    return _fits(content, "utf-8") and _rare(content, codec) > 0


def _best(content: bytes, candidates: Iterable[str]) -> str:
    """Return the encoding with the fewest rare characters; the first one wins ties."""
    return min(candidates, key=lambda codec: _rare(content, codec) + (not _fits(content, codec)))


def _replaced(text: str, codec: str) -> dict[str, str]:
    damaged = text.count("\ufffd")
    return {"damaged text": f"{damaged} characters are not {codec}"} if damaged else {}


def _codec(name: str) -> str | None:
    """Return the codec for a name in CA; None if unknown or incompatible with ASCII."""
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
    """Count the infrequent characters of an encoding."""
    if codec not in _FREQUENT and _is_single_byte(codec):
        return _rare_letters(content.decode(codec, "replace"))
    frequent = _FREQUENT.get(codec, rb"(?!)")
    return sum(map(bool, re.findall(frequent + rb"|(" + _OTHER + rb")", content)))


def _rare_letters(text: str) -> int:
    """Count the unusual letters in a text in Latin, Cyrillic or another alphabet."""
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
        if word.endswith("\\") and not word[-2].isascii():  # probably half a two-byte character
            odd = max(odd, 1)
        rare -= len(letters) - odd
    return rare
