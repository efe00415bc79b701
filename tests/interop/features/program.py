"""One client program: a process that is told what to do and says what happened.

Every client has the same commands and events, so that a test is written once and what is right is
decided here and not in five languages. A command is a line of form-encoded fields, an event a line
of JSON:

    send       how=sync|async|oneway|batch|ordered topic body… [tags keys colour level shard
               delay deliver priority]                                               → sent…
               how=transaction group outcome check                         → sent…, checked…
               how=traced group                                                      → sent…
    recall     topic handle                                                          → recalled
    request    topic body… wait                                                      → replied…
    subscribe  consumer group topic [expression|sql mode=concurrent|orderly
               verdict=ok|retry|none model=clustering|broadcasting retries pop reply traced
               threads]
                                                                                     → received…
    close      consumer
    pull       group topic [expression]     everything in the topic's queues         → found…
    poll       group topic count            as a member of the group                 → found…
    query-key  topic key                                                             → found…
    query-id   topic wanted                                                          → found
    remake     topic broker name cluster body…   deleted in broker and name server,
               made again, and sent to at once; Java only                            → sent…

Clients that speak gRPC have these, of a transaction without a group, and their own:

    send       how=sync|async|transaction topic body… [tags keys colour deliver shard]
    subscribe  consumer group topic [expression|sql verdict=ok|retry|none hold]      → received…
    open       consumer group topic [expression|sql]     a simple consumer
    take       consumer count wait invisible             until so many have come     → found…
    ack        consumer wanted…                          ids of messages that it took
    postpone   consumer wanted… invisible
    recall, close

There `shard` is a message group, `hold` for how many milliseconds a message is handled, and the
group of a `checked` its topic; a message has msgId, messageGroup and `attempt`, which begins with
1, and nothing of queues.

The Java client's asynchronous sends take a `window`, too: how many may be in flight; `threads`, of
its consumers only, is how many messages they handle at a time. `delay` and
`wait` are milliseconds, `deliver` is a time; `pop` is for how many milliseconds others do not see a
message that a consumer has. `outcome` is what becomes of a transaction, commit, rollback or
unknown; `check`, what is answered when the broker asks for it: some of these words, one after the
other. A consumer answers each request with the words of `reply` and those of the request.

A command has an `id`; it ends with `done` or `failed` (with `error`) of the same id. `sent` and
`found` name the id, too; `received` names the consumer, `checked` the group, and both come at any
time.

A `sent` has status, and what the client knows of msgId, offsetMsgId, queueId, queueOffset and
recallHandle. A message has topic, body, tags, keys, colour (a property), queueId, queueOffset,
reconsumeTimes, of Java its priority, bornTimestamp, storeTimestamp and the time at which it was
printed, all in milliseconds.
"""

import itertools
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

Event = dict[str, Any]

COMMAND_SECONDS_MAX = 40
TAKE_SECONDS = 25


class ProgramError(Exception):
    """A client program ended, was silent for too long, or says that a command failed."""


class Program:
    """A running client program; its standard error goes to a file."""

    def __init__(self, command: Sequence[str], folder: Path, **environment: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "stderr"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env={**os.environ, "HOME": str(folder), **environment},
            )
        self._unread = b""
        self._ids = itertools.count(1)
        self._events: list[Event] = []
        self._consumers: set[str] = set()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def ask(self, do: str, **fields: str | int | Sequence[str]) -> list[Event]:
        """Give a command, wait for its end: the events that name it, but for the end."""
        return self._outcome(do, self.begin(do, **fields))

    def _outcome(self, do: str, number: str) -> list[Event]:
        own = self.finish(number)
        for event in own:
            if event["event"] == "failed":
                raise ProgramError(f"{do}: {event['error']}")
        return [event for event in own if event["event"] != "done"]

    def begin(self, do: str, **fields: str | int | Sequence[str]) -> str:
        """Give a command: its id."""
        number = str(next(self._ids))
        line = urlencode({"id": number, "do": do, **fields}, doseq=True)
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        return number

    def events_of(
        self, number: str, is_enough: Callable[[list[Event]], bool], seconds: float
    ) -> list[Event]:
        """Wait until enough has happened of a command that was begun."""
        return self.wait_for(
            lambda events: [event for event in events if event.get("id") == number],
            is_enough,
            seconds,
        )

    def finish(self, number: str) -> list[Event]:
        """Wait for the end of a command: all its events, the end too."""
        try:
            return self.events_of(number, _has_ended, COMMAND_SECONDS_MAX)
        except ProgramError:
            # It is still at it, and would not do what comes next.
            self.kill()
            raise

    def send(self, how: str, topic: str, *bodies: str, **fields: str | int) -> list[Event]:
        return self.ask("send", how=how, topic=topic, body=bodies, **fields)

    def subscribe(self, consumer: str, group: str, topic: str, **fields: str | int) -> None:
        """Back when the consumer has started, which does not mean that it has its queues."""
        self._consumers.add(consumer)
        self.ask("subscribe", consumer=consumer, group=group, topic=topic, **fields)

    def open(self, consumer: str, group: str, topic: str, **fields: str | int) -> None:
        """Start a simple consumer."""
        self._consumers.add(consumer)
        self.ask("open", consumer=consumer, group=group, topic=topic, **fields)

    def take(
        self, consumer: str, count: int, *, seconds: float = TAKE_SECONDS, invisible_s: int = 10
    ) -> list[Event]:
        """So many messages for a simple consumer; fewer if no more come in that time."""
        number = self.begin_take(consumer, count, seconds=seconds, invisible_s=invisible_s)
        return self._outcome("take", number)

    def begin_take(self, consumer: str, count: int, *, seconds: float, invisible_s: int) -> str:
        told = {"count": count, "wait": round(seconds * 1000), "invisible": invisible_s * 1000}
        return self.begin("take", consumer=consumer, **told)

    def ack(self, consumer: str, messages: Sequence[Event]) -> None:
        if messages:
            self.ask("ack", consumer=consumer, wanted=[message["msgId"] for message in messages])

    def postpone(self, consumer: str, message: Event, invisible_s: int) -> None:
        wanted = {"wanted": message["msgId"], "invisible": invisible_s * 1000}
        self.ask("postpone", consumer=consumer, **wanted)

    def checked(self, group: str) -> list[Event]:
        """What the group's producer was asked so far, in that order."""
        return [
            event
            for event in self._events
            if event["event"] == "checked" and event["group"] == group
        ]

    def close(self, consumer: str) -> None:
        self._consumers.remove(consumer)
        self.ask("close", consumer=consumer)

    def close_all(self) -> None:
        for consumer in sorted(self._consumers):
            self.close(consumer)

    def received(self, consumer: str) -> list[Event]:
        """What the consumer has got so far, in that order."""
        return _received(self._events, consumer)

    def receive(
        self, consumer: str, is_enough: Callable[[list[Event]], bool], seconds: float = 45
    ) -> list[Event]:
        """Wait until the consumer has got enough; everything it got.

        Apache's server refuses pulls with a subscription that is newer than the last heartbeat,
        which come every 30 s.
        """
        return self.wait_for(lambda events: _received(events, consumer), is_enough, seconds)

    def wait_for(
        self,
        choose: Callable[[list[Event]], list[Event]],
        is_enough: Callable[[list[Event]], bool],
        seconds: float,
    ) -> list[Event]:
        """Read events until the chosen ones are enough."""
        deadline = time.monotonic() + seconds
        while not is_enough(chosen := choose(self._events)):
            left = deadline - time.monotonic()
            if left <= 0 or not self._read(left):
                reason = "too late" if self.is_running else "the program has ended"
                raise ProgramError(f"{reason}; so far: {chosen}\n{self._last_words()}")
        return chosen

    def linger(self, seconds: float) -> None:
        """Read on for a while: what must not come would have come by then."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._read(left)

    def freeze(self) -> None:
        """Let it do nothing until `thaw`, with its connections open."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once, as a crash would: it says goodbye to nobody."""
        self._process.kill()
        self._process.wait()
        self._consumers.clear()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _read(self, seconds: float) -> bool:
        """Whether the program said anything in that time."""
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], seconds)
        if not readable:
            return False
        data = os.read(self._process.stdout.fileno(), 65536)
        *lines, self._unread = (self._unread + data).split(b"\n")
        self._events += [json.loads(line) for line in lines]
        return bool(data)

    def _last_words(self) -> str:
        return self._log.read_text(errors="replace")[-3000:]


def _has_ended(events: list[Event]) -> bool:
    return any(event["event"] in ("done", "failed") for event in events)


def _received(events: list[Event], consumer: str) -> list[Event]:
    return [event for event in events if event.get("consumer") == consumer]


def tagged(events: Sequence[Event], tag: str) -> list[Event]:
    return [event for event in events if event["tags"] == tag]


def bodies(events: Sequence[Mapping[str, Any]]) -> list[str]:
    return [event["body"] for event in events]
