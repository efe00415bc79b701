"""`ConsumerOptions`: the settings of a consumer, checked once when it is made.

`consumer_options` takes the keywords of `client.consumer` (a topic or several, tags or SQL, a
moment to start at) and returns the values that the parts of a consumer use.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Required, TypedDict, Unpack

from aerobee.client.api.client_options import Duration, seconds_of
from aerobee.client.api.keyword_check import check_keywords
from aerobee.client.core.consume.allocation import Averagely, Strategy
from aerobee.client.core.consume.backoff import Backoff
from aerobee.client.core.consume.process_queue import FlowLimits
from aerobee.client.core.consume.start_rule import Start, StartRule
from aerobee.errors import Misuse
from aerobee.model.names import check_group, check_topic
from aerobee.model.subscription import ALL, BY_SQL, BY_TAG

Order = Literal["none", "queue", "key"]
Model = Literal["clustering", "broadcasting"]
Mode = Literal["pull", "pop"]
StartAt = Literal["earliest", "latest"] | datetime
Topics = str | Iterable[str] | Mapping[str, str]

INVISIBLE_SECONDS = (5.0, 300.0)
"""How long a popped message may be hidden, at least and at most."""
_AS_SAID = (
    "group",
    "order",
    "model",
    "mode",
    "concurrency",
    "auto_ack",
    "max_attempts",
    "retry",
    "strategy",
    "pull_batch",
    "offsets_folder",
)
_DURATIONS = {
    "grace": "grace",
    "poll": "poll_seconds",
    "rebalance_every": "rebalance_seconds",
    "commit_every": "commit_seconds",
    "hand_over": "hand_over_seconds",
    "invisible": "invisible",
    "consume_timeout": "consume_timeout",
}
_LIMITS = {
    "queue_messages_max": "count_max",
    "queue_bytes_max": "bytes_max",
    "queue_span_max": "span_max",
}


@dataclass(frozen=True, slots=True)
class ConsumerOptions:
    """Settings of a consumer. O1. They are checked, and names are those on the wire but for the
    namespace. Durations are in seconds.
    """

    topics: Mapping[str, str]
    """What is wanted of each topic: an expression of `expression_type`."""
    group: str
    expression_type: str = BY_TAG
    start: StartRule = field(default_factory=StartRule)
    order: Order = "none"
    model: Model = "clustering"
    mode: Mode = "pull"
    concurrency: int = 64
    """How many messages may be out at once: handed to the application and not settled."""
    auto_ack: bool = False
    """A message is acknowledged when the loop asks for the next one."""
    max_attempts: int = 16
    retry: Backoff | None = None
    """When a message that failed comes again; None: as the broker's levels go."""
    strategy: Strategy = field(default_factory=Averagely)
    flow: FlowLimits = field(default_factory=FlowLimits)
    pull_batch: int = 256
    """Messages of one pull; a broker may give fewer."""
    grace: float = 30.0
    """How long leaving waits for messages that are being worked on."""
    poll_seconds: float = 15.0
    """How long a broker may hold a pull that finds nothing."""
    rebalance_seconds: float = 20.0
    commit_seconds: float = 5.0
    hand_over_seconds: float = 0.5
    """How long a queue that another member may still have is left alone before it is read."""
    invisible: float = 60.0
    """How long a popped message is hidden from others."""
    consume_timeout: float = 900.0
    """A message that is out for longer goes back to the broker and comes again: in no order, and
    pulled; 15 min, as Java has it."""
    offsets_folder: Path | None = None
    """Where a broadcasting consumer keeps its offsets; None: in the home folder, as Java does."""

    @property
    def is_broadcasting(self) -> bool:
        return self.model == "broadcasting"

    @property
    def is_ordered(self) -> bool:
        return self.order != "none"


class ReaderKeywords(TypedDict, total=False):
    """Keywords of `client.reader`. A duration is a timedelta or seconds."""

    tags: str
    sql: str
    start: StartAt
    queue_messages_max: int
    queue_bytes_max: int
    queue_span_max: int
    pull_batch: int
    poll: Duration


class ConsumerKeywords(ReaderKeywords, total=False):
    """Keywords of `client.consumer`."""

    group: Required[str]
    order: Order
    model: Model
    mode: Mode
    concurrency: int
    auto_ack: bool
    max_attempts: int
    retry: Backoff
    strategy: Strategy
    grace: Duration
    rebalance_every: Duration
    commit_every: Duration
    hand_over: Duration
    invisible: Duration
    consume_timeout: Duration
    offsets_folder: Path


_KEYWORDS = ConsumerKeywords.__optional_keys__ | ConsumerKeywords.__required_keys__


def consumer_options(topics: Topics, **said: Unpack[ConsumerKeywords]) -> ConsumerOptions:
    """The options for these keywords. Misuse says which of them contradict each other. `topics` as
    a mapping gives each topic its own filter.
    """
    check_keywords(said, _KEYWORDS, "a consumer")
    if "group" not in said:
        raise Misuse(
            "a consumer has no group", hint='group="billing": members of a group share messages'
        )
    check_group(said["group"])
    tags, sql = said.get("tags", ALL), said.get("sql", "")
    for name, expression in (("tags", tags), ("sql", sql)):
        if not isinstance(expression, str):
            raise Misuse(f"{name}={expression!r}", hint='one text: tags="a || b", sql="n > 5"')
    if sql and tags != ALL:
        raise Misuse("both tags and sql are given", hint="say tags in SQL: TAGS IN ('a', 'b')")
    all_said: dict[str, Any] = {**said}
    chosen = {name: all_said[name] for name in _AS_SAID if name in said}
    for name, option in _DURATIONS.items():
        if name in said:
            chosen[option] = seconds_of(all_said[name], name)
    limits = {option: all_said[name] for name, option in _LIMITS.items() if name in said}
    options = ConsumerOptions(
        topics=_wanted(topics, sql or tags),
        expression_type=BY_SQL if sql else BY_TAG,
        start=start_rule(said.get("start", "latest")),
        flow=FlowLimits(**limits),
        **chosen,
    )
    _check(options)
    return options


def start_rule(start: StartAt) -> StartRule:
    if isinstance(start, datetime):
        # A time without a zone is local time, as everywhere in Python.
        return StartRule(Start.MOMENT, int(start.timestamp() * 1000))
    if start == "earliest":
        return StartRule(Start.EARLIEST)
    if start == "latest":
        return StartRule(Start.LATEST)
    raise Misuse(f"start={start!r}", hint='say "earliest", "latest" or a datetime')


def _wanted(topics: Topics, expression: str) -> dict[str, str]:
    if isinstance(topics, str):
        topics = (topics,)
    if not isinstance(topics, Mapping):
        topics = dict.fromkeys(topics, expression)
    elif expression != ALL:
        raise Misuse("filters are given twice", hint="in the mapping of topics, or by keyword")
    if not topics:
        raise Misuse("no topic is given")
    for topic in topics:
        check_topic(topic)
    return dict(topics)


def _check(options: ConsumerOptions) -> None:
    known = {
        "order": ("none", "queue", "key"),
        "model": ("clustering", "broadcasting"),
        "mode": ("pull", "pop"),
    }
    for name, values in known.items():
        if getattr(options, name) not in values:
            said = getattr(options, name)
            raise Misuse(f"{name}={said!r}", hint=f"one of {', '.join(map(repr, values))}")
    for name in ("concurrency", "max_attempts", "pull_batch"):
        if getattr(options, name) < 1:
            raise Misuse(f"{name} must be at least 1")
    if options.consume_timeout <= 0:
        raise Misuse("consume_timeout must be more than nothing", hint="leave it out: 15 min")
    if options.is_broadcasting and options.is_ordered:
        raise Misuse(
            "a broadcasting consumer keeps no order among members",
            hint="every member reads every queue: leave out order=, or model=",
        )
    if options.mode == "pop":
        if options.is_ordered or options.is_broadcasting:
            raise Misuse(
                "POP is for order='none' and model='clustering'", hint="use mode='pull' for these"
            )
        if not INVISIBLE_SECONDS[0] <= options.invisible <= INVISIBLE_SECONDS[1]:
            raise Misuse(f"invisible={options.invisible:g} s is not within 5 s … 300 s")
