"""Bytes to UTF-8: compression undone within bounds, the encoding found, the byte order mark dropped."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from charset_normalizer import from_bytes

from lim.errors import LimitError, LoadError
from lim.loading.limits import MAX_ARCHIVE_FILES, MAX_UNPACKED_BYTES
from lim.loading.notes import Notes

_CHUNK = 1 << 20
MAX_COINCIDENCES = 2
_NO_START = bytes(range(0xC2))  # what starts no character of several bytes in UTF-8
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARY = (
    (b"%PDF", "a PDF", "Extract its text first and load that as .txt; a form feed between pages is understood."),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file", "Save the sheet as .xlsx or as CSV UTF-8, the text as .txt."),
    (b"\x89PNG", "a PNG image", "Load the text, not a picture of it."),
    (b"\xff\xd8\xff", "a JPEG image", "Load the text, not a picture of it."),
    (b"GIF8", "a GIF image", "Load the text, not a picture of it."),
    (b"SQLite format 3", "an SQLite database", "Export the rows you want as CSV or JSON."),
    (b"7z\xbc\xaf", "a 7-Zip archive", "Unpack it, or pack it as .zip or .gz."),
    (b"Rar!", "a RAR archive", "Unpack it, or pack it as .zip or .gz."),
    (b"BZh", "a bzip2 file", "Unpack it, or pack it as .zip or .gz."),
    (b"\xfd7zXZ", "an xz file", "Unpack it, or pack it as .zip or .gz."),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", "Unpack it, or pack it as .zip or .gz."),
    (b"ARROW1", "an Arrow file", "Save it as Parquet, CSV or JSON Lines."),
    (b"Obj\x01", "an Avro file", "Save it as Parquet, CSV or JSON Lines."),
    (b"\x93NUMPY", "a NumPy array", "It holds numbers; load the texts as CSV or JSON."),
    (b"\x7fELF", "a program", "Load the ranked list it prints."),
)
_PICKLE = re.compile(rb"\x80[\x02-\x05](?:\x95.{8}|[cX}\]\(q])", re.DOTALL)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x7f]")
# Runs of three high letters are how Cyrillic or Greek bytes look when read as Western European ones.
_HIGH_RUN = re.compile("[\xc0-\xff]{3,}")
_HIGH = re.compile("[\x80-\u2122]")
_PLAUSIBLE = re.compile("[\xc0-\xd6\xd8-\xf6\xf8-\xffŒœŠšŽžŸ‘’“”‚„–—…•€£©®°§«»¡¿ªº´·½¼¾²³µ×÷\xa0†‡‹›™¢¥±¶\xad]")


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive, or the input itself."""

    name: str
    data: bytes


def is_gzip(data: bytes) -> bool:
    """Tell gzip by its first bytes.

    :param data: the input.
    :returns: whether it is gzip.
    """
    return data[:2] == b"\x1f\x8b"


def is_zip(data: bytes) -> bool:
    """Tell zip by its first bytes.

    :param data: the input.
    :returns: whether it is zip (an .xlsx workbook is one too).
    """
    return data[:4] in (b"PK\x03\x04", b"PK\x05\x06")


def gunzip(data: bytes, name: str) -> bytes:
    """Undo gzip, never holding more than the bound.

    :param data: gzip bytes, one or more members.
    :param name: what a person calls the input.
    :returns: the bytes inside.
    :raises LoadError: if they are damaged or cut off.
    :raises LimitError: if they unpack to more than `MAX_UNPACKED_BYTES`.
    """
    parts: list[bytes] = []
    size = 0
    rest = data
    while rest[:2] == b"\x1f\x8b":
        worker = zlib.decompressobj(wbits=31)
        try:
            while not worker.eof:
                part = worker.decompress(rest, _CHUNK)
                rest = worker.unconsumed_tail
                size += len(part)
                if size > MAX_UNPACKED_BYTES:
                    raise _too_large(name)
                if not part and not rest and not worker.eof:
                    raise LoadError(f"{name} is gzip that ends before its last byte. Compress or download it again.")
                parts.append(part)
        except zlib.error as error:
            raise LoadError(f"{name} is damaged gzip ({error}). Compress or download it again.") from error
        rest = worker.unused_data
    return b"".join(parts)


def unzip(data: bytes, name: str) -> Iterator[Member]:
    """Take the files out of a zip archive, never holding more than the bound.

    :param data: zip bytes.
    :param name: what a person calls the input.
    :returns: the files, without folders, hidden files and the `__MACOSX` twins.
    :raises LoadError: if the archive is damaged, encrypted or empty.
    :raises LimitError: if it holds too many files or unpacks to more than `MAX_UNPACKED_BYTES`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir() and not _is_hidden(info.filename)]
            if len(infos) > MAX_ARCHIVE_FILES:
                raise LimitError(
                    f"{name} holds {len(infos):,} files; at most {MAX_ARCHIVE_FILES} are read from one archive. "
                    "Pack only the ranked lists."
                )
            left = MAX_UNPACKED_BYTES
            for info in infos:
                if info.flag_bits & 1:
                    raise LoadError(f"{info.filename} in {name} is encrypted. Pack it again without a password.")
                with archive.open(info) as file:
                    content = file.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise _too_large(name)
                yield Member(info.filename, content)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, OverflowError) as error:
        if isinstance(error, LoadError):
            raise
        raise LoadError(f"{name} is a damaged zip archive ({error}). Pack or download it again.") from error


def zip_names(data: bytes) -> frozenset[str]:
    """List the names in a zip archive without unpacking it.

    :param data: zip bytes.
    :returns: the names; none if the archive is damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return frozenset(archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, OverflowError):
        return frozenset()


def unpacked_size(data: bytes) -> int:
    """Add up what a zip archive says it unpacks to.

    :param data: zip bytes.
    :returns: bytes; 0 if the archive is damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return sum(info.file_size for info in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, OverflowError):
        return 0


def to_utf8(data: bytes, name: str, notes: Notes) -> bytes:
    """Bring text bytes of any usual encoding to UTF-8 without a byte order mark.

    UTF-8 stays the same object, so a large file is not copied.

    :param data: the bytes of a text file.
    :param name: what a person calls the input.
    :param notes: told which encoding was guessed and which bytes were replaced.
    :returns: UTF-8 bytes.
    :raises LoadError: if the bytes are not text.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            if encoding == "utf-8":
                return _valid_or_repaired(data[len(bom) :], name, notes)
            return _decode(data[len(bom) :], encoding, name, notes)
    if len(data) >= 4 and (wide := _wide_encoding(data)):
        notes.guessed(f"The text is read as {wide.upper()}: it has no byte order mark, but a zero byte at every other.")
        return _decode(data, wide, name, notes)
    return _valid_or_repaired(data, name, notes)


def _valid_or_repaired(data: bytes, name: str, notes: Notes) -> bytes:
    if _is_utf8(data):
        refuse_binary(data, name)
        return data
    refuse_binary(data, name)
    text = _nearly_utf8(data, notes) or _by_line(data, notes)
    if text is None:
        text = _western(data)
        if text is not None:
            notes.guessed("The text is not UTF-8; it is read as Windows-1252, the usual encoding of Western Europe.")
        else:
            text = _normalised(data, name, notes)
    return text.encode("utf-8")


def refuse_binary(data: bytes, name: str) -> None:
    """Refuse files that are not text, by name where their first bytes tell.

    :param data: the input.
    :param name: what a person calls it.
    :raises LoadError: if it is not text.
    """
    for magic, what, remedy in _BINARY:
        if data.startswith(magic):
            raise LoadError(f"{name} is {what}, which holds no ranked list this app can read. {remedy}")
    if _PICKLE.match(data):
        raise LoadError(
            f"{name} is a Python pickle. Pickles can run code when they are opened, so none is read; save the "
            "documents as JSON Lines or Parquet."
        )
    head = data[:65536]
    if len(_CONTROL.findall(head)) > max(1, len(head) // 100):
        raise LoadError(
            f"{name} is not text: it is full of control bytes. Load CSV, JSON, JSON Lines, Parquet or text."
        )


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    # In pieces, because one emoji would make the decoded text four times the size of the file.
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(data), _CHUNK):
            decoder.decode(view[start : start + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _nearly_utf8(data: bytes, notes: Notes) -> str | None:
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd") - data.count("\ufffd".encode())
    good = sum(1 for byte in data if byte >= 0xC2) - broken
    if broken > max(2, good // 20) or good < 2 * broken:
        return None
    lines = [number for number, line in enumerate(text.split("\n"), 1) if "\ufffd" in line]
    for number in lines[:1000]:
        notes.changed("Bytes that are not valid UTF-8 are replaced by \ufffd.", f"line {number}")
    return text


def _by_line(data: bytes, notes: Notes) -> str | None:
    """Read files of two encodings that were put one after another: lines of UTF-8 among lines of Windows-1252."""
    lines = data.split(b"\n")
    high = [line for line in lines if not line.isascii()]
    foreign = [line for line in high if not _is_utf8(line)]
    # Bytes of another encoding pass for UTF-8 now and then, so two letters there may be a coincidence.
    good = len(b"".join(high).translate(None, _NO_START)) - len(b"".join(foreign).translate(None, _NO_START))
    if good <= MAX_COINCIDENCES or (western := _western(b"\n".join(foreign))) is None:
        return None
    others = iter(western.split("\n"))
    read: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.isascii() or _is_utf8(line):
            read.append(line.decode("utf-8"))
        else:
            read.append(next(others))
            notes.changed("The line is not UTF-8 as the others are; it is read as Windows-1252.", f"line {number}")
    return "\n".join(read)


def _western(data: bytes) -> str | None:
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    high = len(_HIGH.findall(text))
    odd = high - len(_PLAUSIBLE.findall(text))
    in_runs = sum(len(run) for run in _HIGH_RUN.findall(text))
    return None if odd > high // 5 or in_runs > high // 3 else text


def _normalised(data: bytes, name: str, notes: Notes) -> str:
    best = from_bytes(data[:200_000]).best()
    encoding = best.encoding if best else "latin-1"
    notes.guessed(f"The text is not UTF-8; it is read as {encoding}, which its bytes look most like.")
    return _decode(data, encoding, name, notes).decode("utf-8")


def _decode(data: bytes, encoding: str, name: str, notes: Notes) -> bytes:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, errors="replace")
        notes.changed(f"Bytes of {name} that are not valid {encoding.upper()} are replaced by \ufffd.")
    except LookupError as error:
        raise LoadError(f"{name} is in the encoding {encoding}, which is not read. Save it as UTF-8.") from error
    text = text.removeprefix("\ufeff")
    encoded = text.encode("utf-8", errors="replace")
    refuse_binary(encoded, name)
    return encoded


def _wide_encoding(data: bytes) -> str | None:
    head = data[:4096]
    pairs = len(head) // 2
    if head[1::2].count(0) > 0.7 * pairs and head[::2].count(0) < 0.1 * pairs:
        return "utf-16-le"
    if head[::2].count(0) > 0.7 * pairs and head[1::2].count(0) < 0.1 * pairs:
        return "utf-16-be"
    return None


def _is_hidden(filename: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in filename.split("/"))


def _too_large(name: str) -> LimitError:
    return LimitError(
        f"{name} unpacks to more than {MAX_UNPACKED_BYTES:,} bytes, the most that is unpacked. "
        "Unpack it yourself and load the part you need."
    )
