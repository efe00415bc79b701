"""Queue assignments by a broker and request modes (pop or pull) ⇄ JSON.

    question    {"clientId":"c","consumerGroup":"g","messageModel":"CLUSTERING",
                 "strategyName":"AVG","topic":"T"}
    answer      {"messageQueueAssignments":[{"messageQueue":{"brokerName":"broker-a",
                 "queueId":-1,"topic":"T"},"mode":"POP"}]}
    mode        {"consumerGroup":"g","mode":"POP","popShareQueueNum":0,"topic":"T"}

An answer without its member means: keep the queues that you have; with an empty one: release all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_queue import MessageQueue
from aerobee.model.names import DERIVED_TOPIC_CHARS_MAX
from aerobee.protocol.bodies.heartbeat import GROUP_CHARS_MAX
from aerobee.protocol.bodies.message_queue import queue_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_compact

PULL = "PULL"
POP = "POP"
BODY_BYTES_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class AssignmentQuestion:
    topic: str
    group: str
    client_id: str
    strategy: str
    is_broadcasting: bool


@dataclass(frozen=True, slots=True)
class RequestMode:
    """The mode in which a group reads a topic; `share_queues`: over how many members a queue is
    shared.
    """

    topic: str
    group: str
    mode: str = PULL
    share_queues: int = 0


def decode_assignment_question(body: bytes) -> AssignmentQuestion:
    members = Members(parse(body, bytes_max=BODY_BYTES_MAX), "the request")
    return AssignmentQuestion(
        members.text("topic"),
        members.text("consumerGroup"),
        members.text("clientId", ""),
        members.text("strategyName", ""),
        members.text("messageModel", "").upper() == "BROADCASTING",
    )


def encode_assignments(queues: Sequence[MessageQueue] | None, mode: str) -> bytes:
    if queues is None:
        return write_compact({})
    return write_compact(
        {
            "messageQueueAssignments": [
                {"messageQueue": queue_json(queue), "mode": mode} for queue in queues
            ]
        }
    )


def encode_request_mode(mode: RequestMode) -> bytes:
    return write_compact(request_mode_json(mode))


def decode_request_modes(body: bytes) -> list[RequestMode]:
    """All that were set: {"messageRequestModeMap":{"T":{"g":{…}}}}"""
    topics = Members(parse(body), "the answer").object("messageRequestModeMap")
    return [
        request_mode_from(mode) for _, groups in topics.objects() for _, mode in groups.objects()
    ]


def decode_request_mode(body: bytes) -> RequestMode:
    return request_mode_from(Members(parse(body, bytes_max=BODY_BYTES_MAX), "the request"))


def request_mode_from(members: Members) -> RequestMode:
    topic, group = members.text("topic"), members.text("consumerGroup")
    if not 0 < len(topic) <= DERIVED_TOPIC_CHARS_MAX or not 0 < len(group) <= GROUP_CHARS_MAX:
        raise RemoteProtocolError(f"{members.what} has a name of a length that no name has")
    mode = members.text("mode", PULL)
    if mode not in (PULL, POP):
        raise RemoteProtocolError(f"mode of {members.what} is neither PULL nor POP")
    return RequestMode(topic, group, mode, members.int32("popShareQueueNum", 0))


def request_mode_json(mode: RequestMode) -> dict[str, Value]:
    return {
        "consumerGroup": mode.group,
        "mode": mode.mode,
        "popShareQueueNum": mode.share_queues,
        "topic": mode.topic,
    }
