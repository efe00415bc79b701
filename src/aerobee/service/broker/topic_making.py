"""How a handler has a topic made that its request needs: first the disk, then the request goes on.

Whoever could not have its topic is answered so; nothing else of the request happens.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.model.topic import TopicConfig
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request

TopicMaker: TypeAlias = Callable[[TopicConfig, Request, Callable[[], None]], None]
"""Makes a topic, answers the request if it cannot be made, else goes on."""


def topic_maker(topics: Topics) -> TopicMaker:
    def make(config: TopicConfig, request: Request, go_on: Callable[[], None]) -> None:
        def made(error: BaseException | None) -> None:
            if error is None:
                go_on()
            else:
                remark = f"the topic {config.name} could not be made: {error}"
                request.answer(Answer(ResponseCode.SYSTEM_ERROR, remark))

        topics.add([config], request.now, made)

    return make
