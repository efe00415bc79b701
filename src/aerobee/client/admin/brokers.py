"""`BrokerAdmin` reads and changes brokers: runtime figures, settings, cleaning up. `TuningAdmin`
has rare settings of RocketMQ's brokers: cold-data limits, read-ahead, timer engine. Aerobee's
brokers refuse those requests and say why.

Results are by broker name: brokers of one cluster need not be alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.errors import RemoteAnswer
from aerobee.protocol.bodies.small_tables import decode_text_table
from aerobee.protocol.bodies.stats_data import StatsData, decode_stats_data
from aerobee.protocol.headers.status import StatsDataHeader
from aerobee.protocol.remoting.declared_header import on_wire
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.java_properties import parse_properties, write_properties
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, parse

WHEEL = "F"
ROCKSDB = "R"
"""Engines of the timer."""


@dataclass(frozen=True, slots=True)
class RuntimeInfo:
    """Runtime figures of a broker; `figures` has all that it reports, under RocketMQ's names."""

    figures: Mapping[str, str]

    @property
    def version(self) -> str:
        return self.figures.get("brokerVersionDesc", "")

    @property
    def started_ms(self) -> int:
        return _whole(self.figures.get("bootTimestamp", ""))

    @property
    def sends_a_second(self) -> float:
        """Messages stored a second, over the last ten seconds."""
        return _first(self.figures.get("putTps", ""))

    @property
    def receives_a_second(self) -> float:
        told = self.figures.get("getTransferredTps") or self.figures.get("getTransferedTps", "")
        return _first(told)

    @property
    def disk_used_ratio(self) -> float:
        return _first(self.figures.get("commitLogDiskRatio", ""))

    @property
    def log_start(self) -> int:
        return _whole(self.figures.get("commitLogMinOffset", ""))

    @property
    def log_end(self) -> int:
        return _whole(self.figures.get("commitLogMaxOffset", ""))

    @property
    def earliest_ms(self) -> int:
        """The store time of the oldest message in the log."""
        return _whole(self.figures.get("earliestMessageTimeStamp", ""))


class BrokerAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out

    # How they are doing.

    async def runtime(self, *, on: Where = None) -> dict[str, RuntimeInfo]:
        answers = await self._fan_out.on_masters(on, RequestCode.GET_BROKER_RUNTIME_INFO)
        return {
            name: RuntimeInfo(decode_text_table(bytes(one.body))) for name, one in answers.items()
        }

    async def stats(self, figure: str, of: str, *, on: Where = None) -> dict[str, StatsData | None]:
        """One figure of the statistics, by broker: `TOPIC_PUT_NUMS` of a topic, `GROUP_GET_NUMS` of
        `topic@group`, `BROKER_PUT_NUMS` of a cluster. None: that broker never counted it.
        """

        async def ask(address: str) -> StatsData | None:
            header = StatsDataHeader(figure, of)
            code = RequestCode.VIEW_BROKER_STATS_DATA
            try:
                answer = await self._fan_out.broker(address, code, header)
            except RemoteAnswer as error:
                if error.code == ResponseCode.SYSTEM_ERROR:
                    return None
                raise
            return decode_stats_data(bytes(answer.body))

        return await self._fan_out.each(await self._fan_out.masters(on), ask)

    async def delay_offsets(self, *, on: Where = None) -> dict[str, dict[int, int]]:
        """The offset up to which each delay level was delivered."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_ALL_DELAY_OFFSET)
        return {
            name: Members(parse(bytes(one.body)), "the offsets")
            .object("offsetTable")
            .numbers_by_number()
            for name, one in answers.items()
        }

    async def waiting_for_a_time(self, *, on: Where = None) -> dict[str, dict[str, int]]:
        """By broker and topic, the number of waiting timer messages, if the broker counts them."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_TIMER_METRICS)
        return {
            name: {
                topic: count.int64("count", 0)
                for topic, count in Members(parse(bytes(one.body)), "the timer")
                .object("timingCount")
                .objects()
            }
            for name, one in answers.items()
        }

    # How they are set up.

    async def config(self, *, on: Where = None) -> dict[str, dict[str, str]]:
        """Settings under RocketMQ's names; secrets are shown as stars."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_BROKER_CONFIG)
        return {name: settings_in(bytes(one.body)) for name, one in answers.items()}

    async def set_config(self, settings: Mapping[str, str], *, on: Where = None) -> list[str]:
        """Change settings of running brokers. A broker takes all of them or none; its refusal names
        each key at fault.
        """
        body = write_properties(settings).encode()
        return list(await self._fan_out.on_masters(on, RequestCode.UPDATE_BROKER_CONFIG, body=body))

    async def forbid_writes(self, name: str) -> dict[str, int]:
        """Take the write permission of a broker away, so that producers leave it: by name server,
        the number of topics that changed.
        """
        answers = await self._fan_out.name_servers(
            RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": name}
        )
        return _counts(answers, "wipeTopicCount")

    async def allow_writes(self, name: str) -> dict[str, int]:
        answers = await self._fan_out.name_servers(
            RequestCode.ADD_WRITE_PERM_OF_BROKER, {"brokerName": name}
        )
        return _counts(answers, "addTopicCount")

    # Cleaning up: what a broker says that it did.

    async def clean_unused_topics(self, *, on: Where = None) -> dict[str, str]:
        """Delete the queues of topics that are not in the topic table."""
        return await self._clean(on, RequestCode.CLEAN_UNUSED_TOPIC)

    async def clean_expired_queues(self, *, on: Where = None) -> dict[str, str]:
        return await self._clean(on, RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE)

    async def delete_expired_log(self, *, on: Where = None) -> dict[str, str]:
        """Delete expired log files now, and not at the usual hour."""
        return await self._clean(on, RequestCode.DELETE_EXPIRED_COMMITLOG)

    async def _clean(self, on: Where, code: RequestCode) -> dict[str, str]:
        answers = await self._fan_out.on_masters(on, code)
        return {name: answer.remark for name, answer in answers.items()}


def settings_in(body: bytes) -> dict[str, str]:
    """Read settings from a properties text."""
    return {key: value for _, key, value in parse_properties(body.decode())}


def _counts(answers: Mapping[str, RemotingCommand], field: str) -> dict[str, int]:
    return {address: _whole(one.ext_fields.get(field, "")) for address, one in answers.items()}


def _whole(text: str) -> int:
    """The number, or 0 for a text that is none: figures are for people, and brokers differ."""
    return int(text) if text.lstrip("-").isdigit() else 0


def _first(text: str) -> float:
    """The first of several numbers in a text, which are averages over longer and longer times. 0
    for none and for NaN: an export as JSON could not hold it.
    """
    try:
        number = float(text.split()[0])
    except (IndexError, ValueError):
        return 0.0
    return number if isfinite(number) else 0.0


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
