"""How the bytes of a file spell text, found in one pass that holds a little of it at a time."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from mercer.tables._content import MOST_BYTES, Content, refusing_damage
from mercer.tables.errors import InputError, shown

CHUNK = 1 << 20
LONGEST_LINE = 16 << 20
"""Bytes; a longer line is no row of a table."""

SAMPLE_LINES = 200
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before that of UTF-16, with which it begins
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SIGNS = "a,b;1.5\n"
NO_FILES = ("idna", "punycode", "unicode_escape", "unicode-escape", "raw-unicode-escape")
"""Codecs for names of computers and for Python's source, in which no file is written."""

NOT_IN_CP1252 = (0x81, 0x8D, 0x8F, 0x90, 0x9D)


@dataclass(frozen=True)
class Spelling:
    """The encoding of a text, and its beginning."""

    encoding: str
    errors: str
    sample: list[str]
    lines: int
    whole: bool
    notices: list[str]


def find_encoding(content: Content, encoding: str | None) -> Spelling:
    """Return the encoding: the given one, or the one that the bytes speak for."""
    if encoding is not None:
        _check_known(encoding)
    with refusing_damage(content.name), content.open() as stream:
        head = stream.read(CHUNK)
        chosen = encoding or _from_beginning(head) or "utf-8"
        wide = chosen.lower().replace("_", "-").startswith(("utf-16", "utf-32"))
        head, size, lines, fails, odd = _pass_over(stream, head, chosen, wide, content.name)
    notices: list[str] = []
    if fails:
        if encoding is not None or chosen != "utf-8":
            raise InputError(f"{shown(content.name)} is not text in {chosen[:40]}.")
        chosen = "utf-8" if _is_nearly_utf8(head) else "latin-1" if odd else "cp1252"
        how = "UTF-8 with damaged letters" if chosen == "utf-8" else chosen
        notices.append(
            f"The text is not UTF-8 throughout, so it was read as {how}; `encoding` decides "
            "otherwise."
        )
    whole = len(head) == size
    errors, sample = "replace" if fails else "strict", _lines(head, chosen, whole)
    return Spelling(chosen, errors, sample, lines, whole, notices)


def _is_nearly_utf8(head: bytes) -> bool:
    """Return whether more letters beyond ASCII are right than wrong: a damaged file."""
    letters = head.decode("utf-8", errors="replace")
    wrong = letters.count("\ufffd")
    return sum(letter > "\x7f" for letter in letters) - wrong > wrong > 0


def _pass_over(
    stream, head: bytes, encoding: str, wide: bool, name: str
) -> tuple[bytes, int, int, bool, bool]:
    """Read to the end; return the beginning, bytes, lines, and which bytes do not belong."""
    decoder = codecs.getincrementaldecoder(encoding)()
    chunk, size, line, fails, odd = head, 0, 0, False, False
    enough, lines = False, 0
    head = b""
    while chunk:
        size += len(chunk)
        if size > MOST_BYTES:
            raise InputError(f"{shown(name)} holds more than 1 GiB of text; take some of the rows.")
        lines += max(chunk.count(b"\n"), chunk.count(b"\r"))
        line = _longest_line(chunk, line, name)
        if not wide and b"\x00" in chunk:
            raise InputError(f"{shown(name)} is not text: it holds bytes that are zero.")
        fails = fails or not _decodes(decoder, chunk)
        odd = odd or any(byte in chunk for byte in NOT_IN_CP1252)
        if not enough:
            head += chunk
            enough = (
                head.count(b"\n") + head.count(b"\r") >= SAMPLE_LINES or len(head) > LONGEST_LINE
            )
        chunk = stream.read(CHUNK)
    fails = fails or not _decodes(decoder, b"", final=True)
    return head, size, lines, fails, odd


def _longest_line(chunk: bytes, line: int, name: str) -> int:
    """Return how long the line is that the chunk ends in, given the one it begins in."""
    ends = [place for place in (chunk.find(b"\n"), chunk.find(b"\r")) if place >= 0]
    if line + min(ends, default=len(chunk)) > LONGEST_LINE:
        raise InputError(
            f"{shown(name)} has a line of more than 16 MiB, which is no row of a table."
        )
    if not ends:
        return line + len(chunk)
    return len(chunk) - 1 - max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeError:
        return False
    return True


def _from_beginning(head: bytes) -> str | None:
    for mark, name in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name
    some = head[: 1 << 12]
    half = max(len(some) // 2, 1)
    even, odd = some[0::2].count(0) / half, some[1::2].count(0) / half
    if odd > 0.7 and even < 0.1:  # Latin letters in two bytes each
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 and odd < 0.1 else None


def _check_known(encoding: str) -> None:
    try:
        spelled = SIGNS.encode(encoding)  # refuses codecs that are not for text, too
        known = codecs.getincrementaldecoder(encoding)("replace").decode(spelled, True) == SIGNS
        known = known and codecs.lookup(encoding).name not in NO_FILES
    except (LookupError, ValueError, TypeError):
        known = False
    if not known:
        raise InputError(f"There is no encoding {shown(encoding)}; try utf-8 or cp1252.") from None


def _lines(head: bytes, encoding: str, whole: bool) -> list[str]:
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[: SAMPLE_LINES if whole else min(SAMPLE_LINES, max(len(lines) - 1, 1))]
