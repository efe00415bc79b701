"""GET_ALL_TOPIC_CONFIG, GET_TOPIC_CONFIG and the list of system topics. Nothing is changed here.

The list of all topics can be asked for in pages (`table_pages`).
"""

from collections.abc import Iterable

from aerobee.model.names import SYSTEM_TOPICS
from aerobee.model.queue_mapping import TopicMapping
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.queue_mapping import encode_static_topic
from aerobee.protocol.bodies.small_tables import encode_topic_list
from aerobee.protocol.bodies.topic_table import encode_topic_table
from aerobee.protocol.headers.topics import AllTopicsHeader, TopicConfigHeader
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.admin.table_pages import page_of
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.topics import Topics, system_topics
from aerobee.service.request import Answer, Request


class TopicQueryHandlers:
    def __init__(self, topics: Topics, identity: BrokerIdentity) -> None:
        self._topics = topics
        self._mappings = topics.mappings
        self._identity = identity

    def rows(self) -> list[Row]:
        lane = Lane.ADMIN
        code = RequestCode
        return [
            row(code.GET_ALL_TOPIC_CONFIG, AllTopicsHeader, self._all, lane),
            row(code.GET_TOPIC_CONFIG, TopicConfigHeader, self._config, lane),
            row(code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER, NoHeader, self._system, lane),
        ]

    def _all(self, request: Request, header: AllTopicsHeader) -> Answer:
        topics, version = self._topics.all(), self._topics.version
        topics.sort(key=lambda config: config.name)
        page = page_of(topics, version, header.topic_seq, header.max_topic_num, header.data_version)
        return Answer(
            fields={"totalTopicNum": str(len(topics))},
            body=encode_topic_table(version, page, self._mappings.version, self._mappings_of(page)),
        )

    def _mappings_of(self, topics: Iterable[TopicConfig]) -> list[TopicMapping]:
        return [found for topic in topics if (found := self._mappings.find(topic.name)) is not None]

    def _config(self, request: Request, header: TopicConfigHeader) -> Answer:
        config = self._topics.find(header.topic)
        if config is None:
            return Answer(
                ResponseCode.TOPIC_NOT_EXIST,
                f"No topic in this broker. topic: {header.topic[:255]}",
            )
        mapping = self._mappings.find(header.topic) if header.is_logical else None
        return Answer(body=encode_static_topic(config, mapping))

    def _system(self, request: Request, header: NoHeader) -> Answer:
        """The topics that may be neither created nor deleted, whether they exist or not."""
        names = SYSTEM_TOPICS.union(config.name for config in system_topics(self._identity))
        return Answer(body=encode_topic_list(sorted(names)))
