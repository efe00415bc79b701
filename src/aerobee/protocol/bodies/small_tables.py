"""Lists of topics and tables of texts ⇄ JSON: the bodies of many answers to administrators.

{"brokerAddr":"10.0.0.1:10911","topicList":["A","B"]}     the address only where one is known
{"table":{"key":"value"}}
"""

from collections.abc import Iterable, Mapping

from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_compact


def encode_topic_list(topics: Iterable[str], broker_address: str = "") -> bytes:
    body: dict[str, Value] = {"brokerAddr": broker_address} if broker_address else {}
    body["topicList"] = list(topics)
    return write_compact(body)


def decode_topic_list(body: bytes) -> list[str]:
    return [str(name) for name in Members(parse(body), "the list").array("topicList")]


def encode_text_table(table: Mapping[str, str]) -> bytes:
    return write_compact({"table": table})


def decode_text_table(body: bytes) -> dict[str, str]:
    return Members(parse(body), "the body").object("table").texts()
