"""Requests that create, change, delete and show configs of consumer groups, and their permissions.

Members and progress are elsewhere. A group is created, changed or deleted on the disk first and
answered then.
"""

from collections.abc import Sequence
from dataclasses import replace

from aerobee.model.group import GroupConfig
from aerobee.model.names import find_group_fault, find_topic_fault, is_system_group
from aerobee.model.topic import QUEUES_MAX
from aerobee.protocol.bodies.group_config import (
    decode_group_config,
    decode_group_configs,
    encode_group_config,
    encode_group_forbidden,
    encode_group_table,
)
from aerobee.protocol.headers.groups import (
    AllGroupsHeader,
    DeleteGroupHeader,
    GroupForbiddenHeader,
    GroupHeader,
)
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.admin.table_pages import answer_change, invalid, page_of
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.attributes import GROUP_ATTRIBUTES, changed_attributes
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.groups import Find, Groups
from aerobee.service.request import Answer, Request


class GroupHandlers:
    def __init__(self, groups: Groups, offsets: ConsumerOffsets) -> None:
        self._groups = groups
        self._offsets = offsets

    def rows(self) -> list[Row]:
        lane = Lane.ADMIN
        code = RequestCode
        return [
            row(code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, NoHeader, self._make, lane),
            row(
                code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
                NoHeader,
                self._make_many,
                lane,
            ),
            row(code.DELETE_SUBSCRIPTIONGROUP, DeleteGroupHeader, self._delete, lane),
            row(code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, AllGroupsHeader, self._all, lane),
            row(code.GET_SUBSCRIPTIONGROUP_CONFIG, GroupHeader, self._config, lane),
            row(
                code.UPDATE_AND_GET_GROUP_FORBIDDEN,
                GroupForbiddenHeader,
                self._forbidden,
                lane,
            ),
        ]

    def _make(self, request: Request, header: NoHeader) -> Answer | None:
        return self._put(request, [decode_group_config(request.body)])

    def _make_many(self, request: Request, header: NoHeader) -> Answer | None:
        return self._put(request, decode_group_configs(request.body))

    def _put(self, request: Request, wanted: Sequence[GroupConfig]) -> Answer | None:
        """Save all of the groups or none."""
        for config in wanted:
            fault = find_group_fault(config.name)
            if fault is not None:
                return invalid(fault)
            if not 0 <= config.retry_queues <= QUEUES_MAX:
                return invalid(f"retryQueueNums is {config.retry_queues}, not 0 to {QUEUES_MAX}")
        self._groups.edit(
            lambda find: [_with_attributes(config, find) for config in wanted],
            request.now,
            answer_change(request),
        )
        return None

    def _delete(self, request: Request, header: DeleteGroupHeader) -> Answer | None:
        group = header.group_name
        if is_system_group(group):
            return invalid(f"the group {group[:255]} is the system's")
        answer = answer_change(request)

        def removed(error: BaseException | None) -> None:
            if error is None and (header.clean_offset or header.remove_offset):
                self._offsets.remove_group(group)
            answer(error)

        self._groups.remove([group], request.now, removed)
        return None

    def _all(self, request: Request, header: AllGroupsHeader) -> Answer:
        groups, version = self._groups.all(), self._groups.version
        groups.sort(key=lambda config: config.name)
        page = page_of(groups, version, header.group_seq, header.max_group_num, header.data_version)
        names = {config.name for config in page}
        forbidden = {
            name: topics for name, topics in self._groups.forbidden.items() if name in names
        }
        return Answer(
            fields={"totalGroupNum": str(len(groups))},
            body=encode_group_table(version, page, forbidden),
        )

    def _config(self, request: Request, header: GroupHeader) -> Answer:
        config = self._groups.find(header.group)
        if config is None:
            return Answer(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, "No group in this broker")
        return Answer(body=encode_group_config(config))

    def _forbidden(self, request: Request, header: GroupForbiddenHeader) -> Answer | None:
        group, topic = header.group, header.topic
        fault = find_group_fault(group) or find_topic_fault(topic)
        if fault is not None:
            return invalid(fault)
        if header.readable is None:
            return self._readable(group, topic)
        answer = answer_change(request)

        def done(error: BaseException | None) -> None:
            if error is None:
                request.answer(self._readable(group, topic))
            else:
                answer(error)

        self._groups.set_readable(
            group, topic, is_readable=header.readable, now=request.now, done=done
        )
        return None

    def _readable(self, group: str, topic: str) -> Answer:
        is_readable = self._groups.may_read(group, topic)
        return Answer(body=encode_group_forbidden(group, topic, is_readable=is_readable))


def _with_attributes(wanted: GroupConfig, find: Find) -> GroupConfig:
    """The config with its attributes, of which the request has the changes. A tool that shows a
    group and sends it back has its attributes there, unsigned: they stay."""
    known = find(wanted.name)
    before = known.attributes if known is not None else None
    changes = {} if wanted.attributes == before else wanted.attributes
    return replace(wanted, attributes=changed_attributes(before, changes, GROUP_ATTRIBUTES))
