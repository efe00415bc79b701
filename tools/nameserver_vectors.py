"""Pick what was said to a name server out of recorded traffic, into tests/vectors/nameserver.jsonl.

    python tools/nameserver_vectors.py CAPTURES

CAPTURES is a folder of *.jsonl files as `tools/capture_vectors.py` reads them. A line of the result
is one exchange: the conversation it is from, the request and its answer (none of a
one-way request), each a whole frame in hex. A repeat of what was asked and answered just before is
left out.
"""

import json
import sys
from pathlib import Path
from typing import Any

from tools.capture_vectors import plain_header

TARGET = Path(__file__).resolve().parent.parent / "tests" / "vectors" / "nameserver.jsonl"

CONVERSATIONS = (
    "broker-5.5.0-registration",
    "broker-5.5.0-registration-acting",
    "java-4.9.8-send-autocreate",
    "java-5.5.0-send-autocreate",
    "java-5.5.0-send-sync-binary",
    "mqadmin-5.5.0-topicRoute-l",
    "mqadmin-5.5.0-topicRoute-of-static-topic",
    "mqadmin-5.5.0-topicRoute-of-unknown-topic",
    "mqadmin-5.5.0-topicList",
    "mqadmin-5.5.0-clusterList",
    "mqadmin-5.5.0-getNamesrvConfig",
    "mqadmin-5.5.0-updateNamesrvConfig",
    "mqadmin-5.5.0-updateOrderConf-put",
    "mqadmin-5.5.0-updateOrderConf-get",
    "mqadmin-5.5.0-updateOrderConf-delete",
    "mqadmin-5.5.0-updateOrderConf-get-after-delete",
    "mqadmin-5.5.0-updateKvConfig",
    "mqadmin-5.5.0-deleteKvConfig",
    "mqadmin-5.5.0-wipeWritePerm",
    "mqadmin-5.5.0-topicRoute-after-wipeWritePerm",
    "mqadmin-5.5.0-addWritePerm",
    "mqadmin-5.5.0-topicRoute-after-addWritePerm",
    "mqadmin-5.5.0-deleteTopic",
    "mqadmin-5.5.0-topicRoute-of-deleted-topic",
)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    rows = [row for name in CONVERSATIONS for row in exchanges(Path(sys.argv[1]), name)]
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    TARGET.write_text(text, encoding="utf-8")
    print(f"{len(rows)} exchanges, {len(text) // 1024} KiB in {TARGET.name}")
    return 0


def exchanges(folder: Path, name: str) -> list[dict[str, Any]]:
    """In the order in which they were asked."""
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    seen = [row for row in map(json.loads, lines[1:]) if "frame" in row]
    answers = {
        (row["conn"], row["opaque"]): row["frame"] for row in seen if row["from"] == "nameserver"
    }
    found: list[dict[str, Any]] = []
    last: dict[str, object] = {}
    for row in seen:
        if row["to"] != "nameserver":
            continue
        answer = answers.get((row["conn"], row["opaque"])) if row["kind"] == "request" else None
        meaning = (row["kind"], _meaning(row["frame"]), _meaning(answer))
        if last.get(row["name"]) != meaning:
            last[row["name"]] = meaning
            found.append({"of": name, "request": row["frame"], "answer": answer})
    return found


def _meaning(frame: str | None) -> object:
    """A frame without its opaque."""
    if frame is None:
        return None
    data = bytes.fromhex(frame)
    header = plain_header(data)
    del header["opaque"]
    return header, data[8 + int.from_bytes(data[5:8], "big") :]


if __name__ == "__main__":
    sys.exit(main())
