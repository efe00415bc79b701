"""Sends of the Java client to Apache's broker, so that there is something of Apache's to read."""

import base64
from typing import Any

from tests.interop.seed_store import Queue

APACHE_QUEUES: tuple[Queue, ...] = (("ApacheSingle", 0), ("ApacheSingle", 1), ("ApacheBatch", 0))


def apache_sends() -> list[dict[str, Any]]:
    """In the shape of java/StoreWrite.java: singles of all sizes, one compressed, and batches."""
    sends = [_send("ApacheSingle", number % 2, [_message(number)]) for number in range(1200)]
    sends.append(_send("ApacheSingle", 0, [{"body": _text(b"x")}]))
    sends.append(_send("ApacheSingle", 1, [{"body": _text(b"large enough to compress " * 400)}]))
    odd = {
        "body": _text("тело 本文 😀".encode()),
        "tags": "метка",
        "keys": "ключ 鍵😀",
        "flag": -1,
        "properties": {"цвет": "синий"},
    }
    sends.append(_send("ApacheSingle", 0, [odd]))
    for number in range(0, 400, 8):
        sends.append(_send("ApacheBatch", 0, [_message(number + index) for index in range(8)]))
    return sends


def _send(topic: str, queue_id: int, messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"topic": topic, "queueId": queue_id, "messages": messages}


def _message(number: int) -> dict[str, Any]:
    return {
        "body": _text(b"apache %d " % number + b"-" * (number % 1500)),
        "tags": f"tag-{number % 3}",
        "keys": f"apache-{number} shared",
        "flag": number % 4,
        "properties": {"n": str(number)},
    }


def _text(body: bytes) -> str:
    return base64.b64encode(body).decode()
