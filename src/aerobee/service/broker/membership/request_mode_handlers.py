"""SET_MESSAGE_REQUEST_MODE and GET_ALL_MESSAGE_REQUEST_MODE: whether a group pops or pulls a topic.

Set by an operator. Clients learn it from the answer to QUERY_ASSIGNMENT.
"""

from aerobee.model.names import is_retry_topic
from aerobee.protocol.bodies.assignment import decode_request_mode
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.membership.request_modes import RequestModes
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request


class RequestModeHandlers:
    def __init__(self, modes: RequestModes, topics: Topics, groups: Groups) -> None:
        self._modes = modes
        self._topics = topics
        self._groups = groups

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [
            row(code.SET_MESSAGE_REQUEST_MODE, NoHeader, self._set, lane),
            row(code.GET_ALL_MESSAGE_REQUEST_MODE, NoHeader, self._all, lane),
        ]

    def _set(self, request: Request, header: NoHeader) -> Answer | None:
        mode = decode_request_mode(request.body)
        if is_retry_topic(mode.topic):
            return Answer(ResponseCode.NO_PERMISSION, "retry topic is not allowed to set mode")
        if self._topics.find(mode.topic) is None:
            return Answer(ResponseCode.TOPIC_NOT_EXIST, f"topic[{mode.topic}] not exist")
        if self._groups.ensure(mode.group, request.now) is None:
            return Answer(
                ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
                f"subscription group [{mode.group}] does not exist",
            )
        self._modes.put(mode, request.answer_when_saved)
        return None

    def _all(self, request: Request, header: NoHeader) -> Answer:
        return Answer(body=self._modes.body())
