"""How a handler has a topic made that its request needs: first the disk, then the request goes on.

Whoever could not have its topic is answered so; nothing else of the request happens. Messages whose
topics are being made are in memory until then: a disk that is slow bounds how many.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.model.topic import TopicConfig
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request

TopicMaker: TypeAlias = Callable[[TopicConfig, Request, Callable[[], None]], None]
"""Makes a topic, answers the request if it cannot be made, else goes on."""


WAITING_BYTES_MAX = 64 << 20
"""Of messages that wait for their topic."""
MESSAGE_BYTES = 1024
"""What one costs besides its body."""


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

        topics.add([config], request.now, made)

    return make
