"""RecallMessage: takes a timed message back before its delivery.

The broker's own handler does it; here the topic's type is checked, as RocketMQ's proxy does.
"""

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_type import MessageType
from aerobee.ports.clock import Now
from aerobee.protocol.grpc.calls import RecallMessageRequest, RecallMessageResponse
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.headers.recalling import RecallHeader
from aerobee.protocol.message.recall_handle import decode_recall_handle
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.proxy.call_checks import check_type, names_of, topic_in
from aerobee.service.proxy.desk import Desk, Names
from aerobee.service.proxy.open_call import Method, OpenCall, answering
from aerobee.service.proxy.outcomes import CallRefused, status_of
from aerobee.service.request import Answer


class RecallCalls:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def methods(self) -> list[Method]:
        refuse = answering(RecallMessageResponse)
        return [
            Method(
                "RecallMessage",
                RequestCode.RECALL_MESSAGE,
                RecallMessageRequest,
                self._recall,
                refuse,
                _names,
            )
        ]

    def _recall(self, call: OpenCall, request: RecallMessageRequest, now: Now) -> None:
        topic = topic_in(request.topic)
        self._desk.check(call.asker, RequestCode.RECALL_MESSAGE, {"topic": topic}, now)
        config = self._desk.find_topic(topic)
        if config is None:
            raise CallRefused(GrpcCode.TOPIC_NOT_FOUND, f"the topic {topic} does not exist")
        check_type(config, MessageType.DELAY)

        def recalled(answer: Answer) -> None:
            message_id = (answer.fields or {}).get("msgId", "")
            call.answer(RecallMessageResponse(status_of(answer), message_id))

        try:
            broker = decode_recall_handle(request.recall_handle).broker_name
        except RemoteProtocolError:
            broker = ""  # the broker that is asked says what is wrong with it
        header = RecallHeader(topic, request.recall_handle, producer_group=topic)
        self._desk.ask(call.asker, RequestCode.RECALL_MESSAGE, header, now, recalled, broker=broker)


def _names(request: RecallMessageRequest) -> Names:
    return names_of(request.topic)
