"""`TuningAdmin` has rare settings of RocketMQ's brokers: cold-data limits, read-ahead, timer
engine.

Aerobee's brokers refuse these requests and say why.
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
        """By broker and group, the bytes of old messages that it may read in an interval."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_COLD_DATA_FLOW_CTR_INFO)
        found = {}
        for name, answer in answers.items():
            table = Members(parse(bytes(answer.body)), "the limits").object("configTable")
            found[name] = {group: table.int64(group) for group in table.names()}
        return found

    async def cold_state(self, *, on: Where = None) -> dict[str, Parsed]:
        """By broker, the state of cold-data flow control, as the broker reports it."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_COLD_DATA_FLOW_CTR_INFO)
        return {name: parse(bytes(one.body)) for name, one in answers.items()}

    async def light_state(self, *, on: Where = None) -> dict[str, Parsed]:
        """By broker, the number of lite topics, as the broker reports it. RocketMQ has this since
        5.5.
        """
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
        """Have the operating system read the commit log ahead, or not."""
        header = _ReadAheadHeader("0" if is_on else "1")  # the system's own numbers for it
        code = RequestCode.SET_COMMITLOG_READ_MODE
        return list(await self._fan_out.on_masters(on, code, header))

    async def switch_timer_engine(self, engine: str, *, on: Where = None) -> list[str]:
        """Switch timer messages to the wheel (`F`) or to RocksDB (`R`)."""
        code = RequestCode.SWITCH_TIMER_ENGINE
        return list(await self._fan_out.on_masters(on, code, _EngineHeader(engine)))
