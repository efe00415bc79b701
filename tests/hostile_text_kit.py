"""Markup that would run in a page, in every field that a client of a cluster or a job can write.

    plant(console)                    requests with it, to the broker of a console
    with talkative(console): …        a member of a group that answers with it
    "\n".join(hostile_queries())      a page of metrics of Spark queries with it

What a broker refuses (names of topics and groups have few letters) is refused; what it takes, pages
show.
"""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import aerobee
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.subscription import Subscription
from aerobee.pipeline.capture.position import CaptureState, Phase, Position
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.bodies.running_info import QueueInHand, RunningInfo, encode_running_info
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode, reply_to
from aerobee.protocol.request_codes import RequestCode
from tests.console_kit import ConsoleClient
from tests.wire_client import WireClient

_CALL = "window.pwned=1"
_ELEMENTS = (
    "<script>{0}</script>",
    "<img src=x onerror={0}>",
    "<svg onload={0}>",
    "<svg><script>{0}</script></svg>",
    "<body onload={0}>",
    "<iframe srcdoc='<script>parent.{0}</script>'></iframe>",
    "<iframe src=javascript:{0}></iframe>",
    "<a href=javascript:{0}>x</a>",
    "<input autofocus onfocus={0}>",
    "<select autofocus onfocus={0}>",
    "<textarea autofocus onfocus={0}>",
    "<video><source onerror={0}></video>",
    "<audio src=x onerror={0}>",
    "<details open ontoggle={0}>",
    "<object data=javascript:{0}>",
    "<embed src=javascript:{0}>",
    "<math><mtext><script>{0}</script></mtext></math>",
    "<style>@import 'javascript:{0}'</style>",
    "<link rel=stylesheet href=javascript:{0}>",
    "<meta http-equiv=refresh content='0;url=javascript:{0}'>",
)
_BREAKS = ("{0}", '">{0}', "'>{0}", "</pre></title></textarea>{0}")
_OTHERS = (
    # Attributes, addresses, templates and styles that need no element of their own; and what loads
    # from another machine.
    '" autofocus onfocus="{0}" x="',
    "' style='animation-name:x' onanimationstart='{0}'",
    "javascript:{0}",
    " javascript:{0}//",
    "data:text/html,<script>{0}</script>",
    "//leak.test/{0}",
    "{{constructor.constructor('{0}')()}}",
    "${{{0}}}",
    "</script><script>{0}</script>",
    "&lt;script&gt;{0}&lt;/script&gt;",
    "<img src=//leak.test/{0}>",
    "<svg><image href=//leak.test/{0} /><use href=//leak.test/{0} /></svg>",
    "<style>*{{background:url(//leak.test/{0})}}</style>",
    "<table background=//leak.test/{0}><td>",
    "%3Cscript%3E{0}%3C/script%3E",
    "<scr\u0008ipt>{0}</scr\u0008ipt>",
)
PAYLOADS = [
    *(break_out.format(element.format(_CALL)) for element in _ELEMENTS for break_out in _BREAKS),
    *(one.format(_CALL) for one in _OTHERS),
]
WORDS = [one.replace(" ", "/") for one in PAYLOADS]
"""Without spaces, of which each would end a key or a tag."""
AT_ONCE = " ".join(PAYLOADS)
NAMES = (
    # Requests with a field that names something, and what else they must have.
    (RequestCode.UPDATE_AND_CREATE_TOPIC, "topic", {"readQueueNums": "1", "writeQueueNums": "1"}),
    (RequestCode.UPDATE_CONSUMER_OFFSET, "consumerGroup", {"topic": "hostile", "queueId": "0"}),
    (RequestCode.UPDATE_CONSUMER_OFFSET, "topic", {"consumerGroup": "hostile", "queueId": "0"}),
)
MEMBER = f"talkative {PAYLOADS[0]}"
"""The id of the client that answers."""
MEMBER_GROUP = "hostile-talkers"


def broker_of(console: ConsoleClient) -> tuple[str, int]:
    host, _, port = console.get("/api/brokers")["rows"][0]["address"].rpartition(":")
    return host, int(port)


def plant_names(console: ConsoleClient) -> int:
    """Have the broker asked to keep payloads as names; how often it did."""
    host, port = broker_of(console)
    kept = 0
    with WireClient(port, host) as wire:
        for payload in PAYLOADS:
            for code, field, others in NAMES:
                fields = {"defaultTopic": "TBW102", "perm": "6", "commitOffset": "1", **others}
                kept += wire.ask(code, {**fields, field: payload}).code == 0
            group = json.dumps({"groupName": payload}).encode()
            kept += wire.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, group).code == 0
    return kept


def plant_captures(client: aerobee.SyncClient) -> None:
    """Have states of captures stored: their names, files and tables are payloads."""
    for number, payload in enumerate(PAYLOADS):
        # In four topics: each is read by the page, and its newest state shown.
        topic = f"aerobee-capture-hostile-{number % 4}"
        state = CaptureState(
            AT_ONCE,
            Position(payload, number),
            phase=Phase.SNAPSHOT,
            reading={one: [one] for one in PAYLOADS},
            done=frozenset(PAYLOADS),
            instance=payload,
        )
        if number < 4:
            client.admin.topics.create(topic, queues=1)
        client.send(topic, state.to_json(), keys=["state"])


def plant_results(folder: Path) -> list[str]:
    """Put results of load tests into a console's folder: all texts are payloads. Their names."""
    names = []
    (folder / "bench").mkdir(parents=True, exist_ok=True)
    for number in range(2):
        name = f"20260101-00000{number}-abcd"
        figures = {"messages": 1, "seconds": 1, "rate": number + 1.0, "errors": 0}
        texts = {str(at): one for at, one in enumerate(PAYLOADS)}
        result = {
            "version": 1,
            "name": name,
            "kind": AT_ONCE,
            "started": "2026-01-01T00:00:00Z",
            "workload": {"size_max": 1, "ignored": PAYLOADS, "topic": f"{number}{AT_ONCE}"},
            "brokers": [{"name": AT_ONCE, **texts}],
            "topics": PAYLOADS,
            "figures": {"sent": figures, **dict.fromkeys(PAYLOADS, figures)},
            "errors": {"sent": dict.fromkeys(PAYLOADS, 1)},
            "verdict": {"sentence": AT_ONCE, **texts},
            "usage": {},
            "series": [],
            "histograms": {},
            "is_interrupted": False,
        }
        (folder / "bench" / f"{name}.json").write_text(json.dumps(result))
        names.append(name)
    return names


@contextlib.contextmanager
def talkative(console: ConsoleClient) -> Iterator[None]:
    """A member of a group: its id, its language, and what it says of itself are payloads."""
    subscriptions = tuple(
        Subscription("hostile", one, expression_type="SQL92" if at % 2 else "TAG")
        for at, one in enumerate(PAYLOADS)
    )
    beat = Heartbeat(
        MEMBER, (AT_ONCE[:200],), (ConsumerBeat(MEMBER_GROUP, subscriptions=subscriptions),)
    )
    info = RunningInfo(
        {f"PROP_{one}": one for one in PAYLOADS} | {"PROP_CLIENT_VERSION": AT_ONCE},
        {
            MessageQueue(one, one, QueueId(at)): QueueInHand(1, 0, 2, 1, 1, False, 1)
            for at, one in enumerate(PAYLOADS)
        },
        subscriptions,
        "\n".join(PAYLOADS),
    )
    said = RemotingCommand(
        RequestCode.HEART_BEAT, language=PAYLOADS[1], body=encode_heartbeat(beat)
    )
    with socket.create_connection(broker_of(console)) as peer:
        peer.sendall(b"".join(encode(said)))
        answering = threading.Thread(target=_answer, args=(peer, encode_running_info(info)))
        answering.start()
        try:
            yield
        finally:
            peer.shutdown(socket.SHUT_RDWR)
            answering.join()


def _answer(peer: socket.socket, told: bytes) -> None:
    frames = FrameReader()
    while data := peer.recv(1 << 16):
        frames.receive(data)
        while frames.advance():
            request = decode(frames)
            if not request.is_response:
                peer.sendall(b"".join(encode(reply_to(request, 0, body=told))))


def hostile_queries() -> Iterator[str]:
    """Lines of a page of metrics: names of queries, topics and brokers are payloads."""
    for at, payload in enumerate(PAYLOADS):
        text = payload.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        of = f'query="{text}",topic="{text}",broker="{text}",queue="{at}"'
        yield f'aerobee_query_rows_total{{query="{text}"}} {at}'
        yield f"aerobee_query_lag_messages{{{of}}} 1"
        yield f"aerobee_query_offset{{{of}}} 1"
