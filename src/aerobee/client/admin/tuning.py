"""What few ever turn: limits for groups that read old messages, how the log is read ahead, which
engine keeps time. RocketMQ's brokers have these; ours refuse them with the reason.
"""

from dataclasses import dataclass

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.protocol.remoting.declared_header import on_wire
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.text.java_properties import write_properties
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, parse

WHEEL = "F"
ROCKSDB = "R"
"""Engines of the timer."""


@dataclass(frozen=True, slots=True)
class _ReadAheadHeader:
    mode: str = on_wire("READ_AHEAD_MODE")


@dataclass(frozen=True, slots=True)
class _EngineHeader:
    engine: str = on_wire("E_T")


class TuningAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out

    async def cold_limits(self, *, on: Where = None) -> dict[str, dict[str, int]]:
        """By broker and group, how many bytes of old messages it may read in a while."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_COLD_DATA_FLOW_CTR_INFO)
        found = {}
        for name, answer in answers.items():
            table = Members(parse(bytes(answer.body)), "the limits").object("configTable")
            found[name] = {group: table.int64(group) for group in table.names()}
        return found

    async def cold_state(self, *, on: Where = None) -> dict[str, Parsed]:
        """By broker, all that it says of groups that read old messages, as it says it."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_COLD_DATA_FLOW_CTR_INFO)
        return {name: parse(bytes(one.body)) for name, one in answers.items()}

    async def light_state(self, *, on: Where = None) -> dict[str, Parsed]:
        """By broker, how many light topics it has, as it says it. Before 5.5 none does."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_BROKER_LITE_INFO)
        return {name: parse(bytes(one.body)) for name, one in answers.items()}

    async def set_cold_limit(self, group: str, size: int, *, on: Where = None) -> list[str]:
        body = write_properties({group: str(size)}).encode()
        code = RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG
        return list(await self._fan_out.on_masters(on, code, body=body))

    async def remove_cold_limit(self, group: str, *, on: Where = None) -> list[str]:
        code = RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG
        return list(await self._fan_out.on_masters(on, code, body=group.encode()))

    async def set_read_ahead(self, *, is_on: bool, on: Where = None) -> list[str]:
        """Whether the system is to read the log ahead of those who read it."""
        header = _ReadAheadHeader("0" if is_on else "1")  # the system's own numbers for it
        code = RequestCode.SET_COMMITLOG_READ_MODE
        return list(await self._fan_out.on_masters(on, code, header))

    async def switch_timer_engine(self, engine: str, *, on: Where = None) -> list[str]:
        """The wheel (`F`) or RocksDB (`R`)."""
        code = RequestCode.SWITCH_TIMER_ENGINE
        return list(await self._fan_out.on_masters(on, code, _EngineHeader(engine)))
