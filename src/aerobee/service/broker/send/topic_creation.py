"""Creates the topic that a request needs: it is saved on the disk first, then the request
continues.

If the topic cannot be made the request is answered with the error and not run. Requests that wait
for a topic are held in memory; WAITING_BYTES_MAX bounds them while the disk is slow.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.model.topic import TopicConfig
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.state.attributes import with_maker
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request

TopicMaker: TypeAlias = Callable[[TopicConfig, Request, Callable[[], None]], None]
"""Makes a topic, then calls back; if it cannot be made, answers the request with the error."""


WAITING_BYTES_MAX = 64 << 20
"""Limit for the messages that wait for their topic."""
MESSAGE_BYTES = 1024
"""Estimated memory of one such message besides its body."""


def topic_maker(topics: Topics, waiting_bytes_max: int = WAITING_BYTES_MAX) -> TopicMaker:
    waiting_bytes = 0

    def make(config: TopicConfig, request: Request, go_on: Callable[[], None]) -> None:
        nonlocal waiting_bytes
        size = MESSAGE_BYTES + len(request.body)
        if waiting_bytes + size > waiting_bytes_max:
            request.answer(
                Answer(
                    ResponseCode.SYSTEM_BUSY,
                    "too many messages wait for their topics to be made: try again, or make the "
                    "topic first",
                )
            )
            return
        waiting_bytes += size

        def made(error: BaseException | None) -> None:
            nonlocal waiting_bytes
            waiting_bytes -= size
            if error is None:
                go_on()
            else:
                remark = f"the topic {config.name} could not be made: {error}"
                request.answer(Answer(ResponseCode.SYSTEM_ERROR, remark))

        topics.add([with_maker(config, request.user)], request.now, made)

    return make
