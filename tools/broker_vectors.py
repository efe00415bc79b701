"""Pick what was said to a broker out of recorded traffic, into tests/vectors/broker.jsonl.gz.

    python tools/broker_vectors.py CAPTURES

CAPTURES is a folder of *.jsonl files as `tools/capture_vectors.py` reads them. The result has one
line per event, in the order of the recording:

    of        the conversation
    t         ms since it began
    conn      the connection
    event     open, close, say (client to broker) or hear (broker to client)
    frame     the whole frame in hex, if something was said

and before them one line per conversation: the topics that the name server knew, and their queues.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from tools.capture_vectors import plain_header

TARGET = Path(__file__).resolve().parent.parent / "tests" / "vectors" / "broker.jsonl.gz"

# Larger than all others together, with the stacks of a Java client's threads; its short form is in.
LEFT_OUT = ("mqadmin-5.5.0-consumerStatus-s",)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    lines = []
    files = sorted(Path(sys.argv[1]).glob("*.jsonl"))
    for file in files:
        if file.stem.startswith(("java-", "mqadmin-")) and file.stem not in LEFT_OUT:
            lines += conversation(file)
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    TARGET.write_bytes(gzip.compress(text.encode(), mtime=0))
    size = TARGET.stat().st_size // 1024
    print(f"{len(lines)} lines of {len(files)} files, {size} KiB in {TARGET.name}")
    return 0


def conversation(file: Path) -> list[dict[str, Any]]:
    """Its lines; none if no broker took part."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()][1:]
    events = []
    for row in rows:
        if "broker" not in (row["from"], row["to"]):
            continue
        place = {"of": file.stem, "t": row["t"], "conn": row["conn"]}
        if "frame" in row:
            event = "say" if row["to"] == "broker" else "hear"
            events.append({**place, "event": event, "frame": row["frame"]})
        else:
            events.append({**place, "event": row["event"]})
    if not events:
        return []
    return [{"of": file.stem, "topics": topics(rows)}, *events]


def topics(rows: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Queues to read, queues to write and permission of each topic whose route was asked for, and
    that was there when it first was."""
    asked = {
        (row["conn"], row["opaque"]): plain_header(bytes.fromhex(row["frame"]))["extFields"][
            "topic"
        ]
        for row in rows
        if row.get("name") == "GET_ROUTEINFO_BY_TOPIC" and row["kind"] == "request"
    }
    found: dict[str, list[int]] = {}
    for row in rows:
        if row.get("name") != "GET_ROUTEINFO_BY_TOPIC" or row["kind"] != "response":
            continue
        sizes = []
        if row["code"] == 0:
            data = bytes.fromhex(row["frame"])
            body = json.loads(data[8 + int.from_bytes(data[5:8], "big") :])
            (queues, *_) = body["queueDatas"]
            sizes = [queues["readQueueNums"], queues["writeQueueNums"], queues["perm"]]
        found.setdefault(asked[row["conn"], row["opaque"]], sizes)
    return {topic: sizes for topic, sizes in found.items() if sizes}


if __name__ == "__main__":
    sys.exit(main())
