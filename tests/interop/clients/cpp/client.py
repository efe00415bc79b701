"""Apache's C++ client, told on standard input what to do: see features/program.py.

The client is librocketmq.so, which the Python package `rocketmq` brings with thin wrappers around
its C functions. It runs in an environment of its own. Arguments: the name server's address, a name
for this process. The environment may have credentials, ACCESS_KEY and SECRET_KEY.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from rocketmq.client import (
    Message,
    Producer,
    PullConsumer,
    PushConsumer,
    RecvMessage,
)
from rocketmq.ffi import MessageModel, dll

Fields = dict[str, list[str]]

# What a listener answers.
CONSUME_SUCCESS, RECONSUME_LATER = 0, 1


class Client:
    def __init__(self, name_server: str, process: str) -> None:
        self._name_server = name_server
        self._process = process
        self._consumers: dict[str, Any] = {}
        self._printing = threading.Lock()
        # The library prints to standard output, too: events go to where that was.
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._producer = Producer(f"interop-{process}")
        self._producer.set_namesrv_addr(name_server)
        _sign(self._producer)
        self._producer.start()

    def obey(self, line: str) -> None:
        command = parse_qs(line.strip(), keep_blank_values=True)
        end: dict[str, Any] = {"event": "done"}
        try:
            verbs: dict[str, Callable[[Fields], None]] = {
                "send": self._send,
                "subscribe": self._subscribe,
                "close": self._close,
                "pull": self._pull,
            }
            verbs[command["do"][0]](command)
        except Exception as error:
            end = {"event": "failed", "error": repr(error)}
        self._print({**end, "id": command["id"][0]})

    def _print(self, event: dict[str, Any]) -> None:
        with self._printing:
            self._out.write(json.dumps(event) + "\n")
            self._out.flush()

    def _sent(self, command: Fields, result: Any) -> None:
        event = {"event": "sent", "id": command["id"][0], "status": f"SEND_{result.status.name}"}
        self._print({**event, "msgId": result.msg_id, "queueOffset": result.offset})

    def _send(self, command: Fields) -> None:
        how = command["how"][0]
        messages = [_message(command, body) for body in command["body"]]
        if how == "async":
            self._send_together(command, messages)
            return
        for message in messages:
            if how == "sync":
                self._sent(command, self._producer.send_sync(message))
            elif how == "oneway":
                self._producer.send_oneway(message)
            elif how == "ordered":
                shard = int(command["shard"][0])
                self._sent(command, self._producer.send_orderly(message, shard))
            else:
                raise ValueError(f"not offered: {how}")

    def _send_together(self, command: Fields, messages: list[Any]) -> None:
        left = threading.Semaphore(0)
        errors = []

        def succeed(result: Any) -> None:
            self._sent(command, result)
            left.release()

        def fail(error: Exception) -> None:
            errors.append(error)
            left.release()

        for message in messages:
            self._producer.send_async(message, succeed, fail)
        for _ in messages:
            left.acquire()
        if errors:
            raise errors[0]

    def _subscribe(self, command: Fields) -> None:
        name = command["consumer"][0]
        verdict = RECONSUME_LATER if command.get("verdict") == ["retry"] else CONSUME_SUCCESS
        is_broadcast = command.get("model") == ["broadcasting"]

        def receive(_: Any, handle: Any) -> int:
            message = _described(RecvMessage(handle))
            self._print({**message, "event": "received", "consumer": name})
            return verdict

        consumer = PushConsumer(
            command["group"][0],
            orderly=command.get("mode") == ["orderly"],
            message_model=MessageModel.BROADCASTING if is_broadcast else MessageModel.CLUSTERING,
        )
        consumer.set_namesrv_addr(self._name_server)
        consumer.set_instance_name(f"{self._process}-{name}")
        _sign(consumer)
        # The wrapper's own way to refuse raises through C, which answers whatever it finds.
        expression = command.get("expression", ["*"])[0]
        dll.Subscribe(consumer._handle, command["topic"][0].encode(), expression.encode())
        consumer._register_callback(receive)
        consumer.start()
        self._consumers[name] = consumer

    def _close(self, command: Fields) -> None:
        self._consumers.pop(command["consumer"][0]).shutdown()

    def _pull(self, command: Fields) -> None:
        consumer = PullConsumer(command["group"][0])
        consumer.set_namesrv_addr(self._name_server)
        consumer.start()
        expression = command.get("expression", ["*"])[0]
        for message in consumer.pull(command["topic"][0], expression):
            self._print({**_described(message), "event": "found", "id": command["id"][0]})
        consumer.shutdown()


def _sign(client: Any) -> None:
    if "ACCESS_KEY" in os.environ:
        key, secret = os.environ["ACCESS_KEY"], os.environ["SECRET_KEY"]
        client.set_session_credentials(key, secret, "")


def _message(command: Fields, body: str) -> Any:
    message = Message(command["topic"][0])
    message.set_body(body)
    if "tags" in command:
        message.set_tags(command["tags"][0])
    if "keys" in command:
        message.set_keys(command["keys"][0])
    if "colour" in command:
        message.set_property("colour", command["colour"][0])
    if "level" in command:
        message.set_delay_time_level(int(command["level"][0]))
    return message


def _described(message: Any) -> dict[str, Any]:
    assert isinstance(message, RecvMessage)
    return {
        "topic": message.topic,
        "body": message.body.decode(),
        "tags": _text(message.tags),
        "keys": _text(message.keys),
        "colour": _text(message.get_property("colour")),
        "queueId": message.queue_id,
        "queueOffset": message.queue_offset,
        "reconsumeTimes": message.reconsume_times,
        "bornTimestamp": message.born_timestamp,
        "storeTimestamp": message.store_timestamp,
        "time": time.time_ns() // 1_000_000,
    }


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


if __name__ == "__main__":
    client = Client(*sys.argv[1:])
    for line in sys.stdin:
        client.obey(line)
    # The library's threads would hold the process.
    os._exit(0)
