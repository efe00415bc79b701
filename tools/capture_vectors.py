"""Pick one frame of every kind out of recorded traffic into tests/vectors/frames.jsonl.

    python tools/capture_vectors.py CAPTURES

CAPTURES is a folder of *.jsonl files: the first line of each names the client and its version,
every other line with a `frame` is one frame in hex with its direction, kind, code and request name.
A kind is: client, version, direction, request or response, request name, response code, form of
the header, and which keys it has. The smallest frame of a kind is taken.

Headers are read here with the standard library alone, so that the tests which use the result do
not compare the package with itself.
"""

import json
import struct
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "tests" / "vectors" / "frames.jsonl"

_LANGUAGES = ("JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    chosen: dict[tuple[object, ...], dict[str, Any]] = {}
    for path in sorted(Path(sys.argv[1]).glob("*.jsonl")):
        for row in rows_of(path):
            kind = kind_of(row)
            if kind not in chosen or len(row["frame"]) < len(chosen[kind]["frame"]):
                chosen[kind] = row
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in chosen.values())
    TARGET.write_text(text, encoding="utf-8")
    print(f"{len(chosen)} kinds, {len(text) // 1024} KiB in {TARGET.name}")
    return 0


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The frames of one file, each with where it came from."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = json.loads(lines[0])
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        seen = json.loads(line)
        if "frame" in seen:
            rows.append(
                {
                    "origin": f"{path.name}:{number}",
                    "client": f"{head['client']} {head['version']}",
                    **{key: seen[key] for key in ("from", "to", "kind", "name", "code", "frame")},
                }
            )
    return rows


def kind_of(row: dict[str, Any]) -> tuple[object, ...]:
    frame = bytes.fromhex(row["frame"])
    header = plain_header(frame)
    return (
        *(row[key] for key in ("client", "from", "to", "kind", "name", "code")),
        frame[4],
        frozenset(header),
        frozenset(header.get("extFields", ())),
    )


def plain_header(frame: bytes) -> dict[str, Any]:
    """The header of a frame as the keys of its JSON form, by the standard library."""
    header = frame[8 : 8 + int.from_bytes(frame[5:8], "big")]
    if frame[4] == 0:
        value: dict[str, Any] = json.loads(header)
        return value
    code, language, version, opaque, flag, size = struct.unpack_from(">hbhiii", header)
    value = {"code": code, "flag": flag, "opaque": opaque, "version": version}
    value["language"] = _LANGUAGES[language]
    if size:
        value["remark"] = header[17 : 17 + size].decode()
    position = 17 + size
    end = position + 4 + int.from_bytes(header[position : position + 4], "big")
    position += 4
    fields = {}
    while position < end:
        texts = []
        for width in (2, 4):
            size = int.from_bytes(header[position : position + width], "big")
            position += width
            texts.append(header[position : position + size].decode())
            position += size
        fields[texts[0]] = texts[1]
    if fields:
        value["extFields"] = fields
    return value


if __name__ == "__main__":
    sys.exit(main())
