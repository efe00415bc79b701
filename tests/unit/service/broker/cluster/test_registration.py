import itertools
from collections.abc import Sequence
from dataclasses import replace

from aerobee.model.queue_mapping import MappingInfo
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.ports.service import ChannelId, Dial, Effects
from aerobee.protocol.bodies.register_broker import decode_register_broker
from aerobee.protocol.bodies.topic_route import decode_topic_route
from aerobee.protocol.remoting.command_header import RESPONSE_FLAG
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.cluster.registration import (
    PLAIN_BYTES_MAX,
    PROBE_INTERVAL_MS,
    RETRY_MS_MAX,
    RETRY_MS_MIN,
    TOLD_MS_MAX,
    Registration,
)
from aerobee.service.broker.config import SETTINGS, BrokerConfig, BrokerIdentity
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from tests.nameserver_kit import BROKER, NameServerKit

REGISTER, UNREGISTER, QUERY = 103, 104, 322
IDENTITY = BrokerIdentity("broker-a", "C", 0, "10.0.0.1:10911", "10.0.0.1:10912")


class Topics:
    """A table of topics that changes when told, each change under a version of its own."""

    def __init__(self, *configs: TopicConfig) -> None:
        self.table = {config.name: config for config in configs}
        self.version = DataVersion(0, 0, 1_000)
        self.changed: list[str] = []

    def find(self, name: str) -> TopicConfig | None:
        return self.table.get(name)

    def all(self) -> list[TopicConfig]:
        return list(self.table.values())

    def take_changed(self) -> list[str]:
        changed, self.changed = self.changed, []
        return changed

    def put(self, config: TopicConfig) -> None:
        self.table[config.name] = config
        self.note(config.name)

    def remove(self, name: str) -> None:
        del self.table[name]
        self.note(name)

    def note(self, name: str) -> None:
        self.version = self.version.next(2_000)
        self.changed.append(name)


class Kit:
    """A registration, and name servers that answer when told to."""

    def __init__(
        self,
        addresses: Sequence[str] = ("ns:1",),
        plain_bytes_max: int = PLAIN_BYTES_MAX,
        identity: BrokerIdentity = IDENTITY,
    ) -> None:
        self.clock = SimClock()
        self.topics = Topics(TopicConfig("TBW102", 8, 8, 7), TopicConfig("Orders", 4, 4, 6))
        self.outbox: Effects = []
        self.mappings: list[MappingInfo] = []
        worker = SimDiskWorker()
        self.config = LiveConfig(
            BrokerConfig(), SETTINGS, ChangesFile(SimDisk(), "changes", {}), worker, {}
        )
        self.worker = worker
        self.registration = Registration(
            identity,
            self.config,
            self.topics,
            addresses,
            self.outbox,
            lambda: self.mappings,
            plain_bytes_max,
        )

    def tick(self, ms: int = 0) -> list[Dial]:
        """What is asked, after so much time."""
        self.registration.on_tick(self.clock.advance(ms))
        asked = [effect for effect in self.outbox if isinstance(effect, Dial)]
        self.outbox.clear()
        return asked

    def answer(self, dial: Dial, code: int | None = 0, **fields: str) -> None:
        """None: there is no answer."""
        answer = RemotingCommand(code or 0, flag=RESPONSE_FLAG, ext_fields=fields)
        self.registration.on_answer(
            dial.ticket, answer if code is not None else None, self.clock.now()
        )

    def registered(self) -> None:
        (dial,) = self.tick()
        self.answer(dial)


def topics_of(dial: Dial) -> dict[str, TopicConfig]:
    assert dial.command.code == REGISTER
    upload = decode_register_broker(bytes(dial.command.body), is_compressed=False, version=513)
    return dict(upload.topics)


def version_of(dial: Dial) -> DataVersion:
    upload = decode_register_broker(bytes(dial.command.body), is_compressed=False, version=513)
    return upload.version


def test_every_name_server_is_told_of_all_topics_at_the_start() -> None:
    kit = Kit(("ns:1", "ns:2", "ns:1"))
    dials = kit.tick()
    assert [dial.address for dial in dials] == ["ns:1", "ns:2"]
    for dial in dials:
        assert topics_of(dial) == kit.topics.table
        assert dial.command.ext_fields["brokerAddr"] == "10.0.0.1:10911"
        assert dial.command.ext_fields["haServerAddr"] == "10.0.0.1:10912"
        assert dial.command.ext_fields["clusterName"] == "C"
        assert dial.command.ext_fields["compressed"] == "false"
        assert dial.command.version >= 413
        assert dial.timeout_ms == 24_000
    assert kit.tick() == []


def test_all_topics_are_told_again_every_interval() -> None:
    kit = Kit()
    kit.registered()
    codes = []
    for _ in range(12):
        for dial in kit.tick(5_000):
            codes.append((kit.clock.now().monotonic_ms, dial.command.code))
            kit.answer(dial, changed="false")
    assert [at for at, code in codes if code == REGISTER] == [30_000, 60_000]
    assert {code for _, code in codes} == {REGISTER, QUERY}


def test_a_change_is_told_at_once_and_alone() -> None:
    kit = Kit()
    kit.registered()
    kit.topics.put(TopicConfig("New"))
    (dial,) = kit.tick(5)
    assert topics_of(dial) == {"New": TopicConfig("New")}
    assert version_of(dial) == kit.topics.version
    kit.answer(dial)
    assert kit.tick(5) == []


def test_changes_during_an_upload_go_together_into_the_next_one() -> None:
    kit = Kit()
    (dial,) = kit.tick()
    for name in ("A", "B"):
        kit.topics.put(TopicConfig(name))
        assert kit.tick(5) == []
    kit.answer(dial)
    (dial,) = kit.tick(5)
    assert set(topics_of(dial)) == {"A", "B"}
    kit.topics.put(TopicConfig("C"))
    kit.answer(dial)
    (dial,) = kit.tick(5)
    assert set(topics_of(dial)) == {"C"}


def test_a_deleted_topic_is_not_told() -> None:
    kit = Kit()
    kit.registered()
    kit.topics.remove("Orders")
    assert kit.tick(5) == []
    kit.topics.put(TopicConfig("A"))
    (dial,) = kit.tick(5)
    assert set(topics_of(dial)) == {"A"}


def test_one_that_does_not_answer_is_asked_again_less_and_less_often() -> None:
    kit = Kit()
    asked = []
    for _ in range(600):
        for dial in kit.tick(100):
            assert topics_of(dial) == kit.topics.table
            asked.append(kit.clock.now().monotonic_ms)
            kit.answer(dial, None)
    pauses = [later - earlier for earlier, later in itertools.pairwise(asked)]
    assert pauses[0] == RETRY_MS_MIN
    assert pauses == sorted(pauses)
    assert pauses[-1] == RETRY_MS_MAX
    kit.topics.put(TopicConfig("New"))
    assert kit.tick(0) == []  # it is no use
    (dial,) = kit.tick(RETRY_MS_MAX)
    assert "New" in topics_of(dial)
    kit.answer(dial)
    kit.topics.put(TopicConfig("Newer"))
    (dial,) = kit.tick(5)
    assert set(topics_of(dial)) == {"Newer"}
    kit.answer(dial, None)
    (dial,) = kit.tick(RETRY_MS_MIN)  # it begins anew
    assert topics_of(dial) == kit.topics.table


def test_one_name_server_that_is_gone_does_not_keep_the_others_waiting() -> None:
    kit = Kit(("ns:1", "ns:2"))
    first, second = kit.tick()
    kit.answer(first, None)
    kit.answer(second)
    kit.topics.put(TopicConfig("New"))
    (dial,) = kit.tick(5)
    assert dial.address == "ns:2"


def test_a_name_server_that_began_anew_gets_all_topics_within_seconds() -> None:
    kit = Kit()
    kit.registered()
    (dial,) = kit.tick(PROBE_INTERVAL_MS)
    assert dial.command.code == QUERY
    kit.answer(dial, changed="true")
    (dial,) = kit.tick(5)
    assert topics_of(dial) == kit.topics.table


def test_a_broker_with_acting_masters_is_heard_of_every_second_and_says_when_it_is_gone() -> None:
    acts = ReplicationConfig(acts_as_master=True)
    kit = Kit(identity=replace(IDENTITY, replication=acts))
    (upload,) = kit.tick()
    fields = upload.command.ext_fields
    assert (fields["enableActingMaster"], fields["heartbeatTimeoutMillis"]) == ("true", "10000")
    kit.answer(upload)
    beats = []
    for _ in range(29):
        assert kit.registration.rest_ms(kit.clock.now()) <= 1_000
        for dial in kit.tick(1_000):
            assert dial.command.code == QUERY
            beats.append(kit.clock.now().monotonic_ms)
            kit.answer(dial, changed="false")
    assert beats == list(range(1_000, 30_000, 1_000))
    (usual,) = Kit().tick()
    fields = usual.command.ext_fields
    assert fields["enableActingMaster"] == "false"
    assert "heartbeatTimeoutMillis" not in fields


def test_one_that_cannot_say_whether_it_knows_us_is_no_failure() -> None:
    kit = Kit()
    kit.registered()
    (dial,) = kit.tick(PROBE_INTERVAL_MS)
    kit.answer(dial, 3)
    assert kit.tick(5) == []
    kit.topics.put(TopicConfig("New"))
    (dial,) = kit.tick(5)
    assert set(topics_of(dial)) == {"New"}


def test_one_that_refuses_a_change_because_it_lost_us_gets_all_topics_at_once() -> None:
    kit = Kit()
    kit.registered()
    kit.topics.put(TopicConfig("New"))
    (dial,) = kit.tick(5)
    kit.answer(dial, 1)
    (dial,) = kit.tick(5)
    assert topics_of(dial) == kit.topics.table
    kit.answer(dial, 1)
    assert kit.tick(5) == []  # it does not want us: no haste
    assert len(kit.tick(RETRY_MS_MIN)) == 1


def test_topics_are_told_with_the_brokers_permission_applied_under_a_new_version() -> None:
    kit = Kit()
    kit.registered()
    before = kit.topics.version
    kit.config.change({"brokerPermission": "4"}, lambda error: None)
    kit.worker.run_all()
    kit.worker.collect()
    (dial,) = kit.tick(5)
    assert {name: config.permission for name, config in topics_of(dial).items()} == {
        "TBW102": 4,
        "Orders": 4,
    }
    assert version_of(dial) > before
    kit.answer(dial)
    kit.config.change({"brokerPermission": "6"}, lambda error: None)
    kit.worker.run_all()
    kit.worker.collect()
    (again,) = kit.tick(5)
    assert topics_of(again) == kit.topics.table
    assert version_of(again) > version_of(dial)


def made(kit: Kit, name: str, told: list[str]) -> None:
    """A topic whose maker waits until name servers have heard of it."""
    kit.topics.put(TopicConfig(name))
    kit.registration.when_told(lambda: told.append(name))


def test_who_made_a_topic_goes_on_when_every_name_server_has_heard_of_it() -> None:
    kit, told = Kit(("ns:1", "ns:2")), list[str]()
    for dial in kit.tick():
        kit.answer(dial)
    made(kit, "A", told)
    first, second = kit.tick(5)
    kit.answer(first)
    assert kit.tick(5) == []
    assert told == []
    made(kit, "B", told)
    (again,) = kit.tick(5)
    assert (again.address, set(topics_of(again))) == ("ns:1", {"B"})
    kit.answer(again)
    kit.answer(second)
    (last,) = kit.tick(5)
    assert (told, set(topics_of(last))) == (["A"], {"B"})
    kit.answer(last)
    kit.tick(5)
    assert told == ["A", "B"]


def test_what_changes_during_an_upload_is_heard_with_the_next() -> None:
    kit, told = Kit(), list[str]()
    kit.registered()
    (probe,) = kit.tick(PROBE_INTERVAL_MS)
    made(kit, "A", told)
    assert kit.tick(5) == []
    kit.answer(probe, changed="false")
    (dial,) = kit.tick(5)
    assert told == []
    kit.answer(dial)
    kit.tick(5)
    assert told == ["A"]


def test_a_name_server_that_hangs_or_goes_holds_nobody_up_for_long() -> None:
    kit, told = Kit(), list[str]()
    kit.registered()
    made(kit, "hangs", told)
    (dial,) = kit.tick(5)
    assert kit.registration.rest_ms(kit.clock.now()) == TOLD_MS_MAX
    kit.tick(TOLD_MS_MAX - 1)
    assert told == []
    kit.tick(1)
    assert told == ["hangs"]
    made(kit, "goes", told)
    kit.tick(5)
    kit.answer(dial, None)
    kit.tick(5)
    assert told == ["hangs", "goes"]
    made(kit, "gone", told)
    assert told == ["hangs", "goes", "gone"]


def test_where_there_is_nothing_to_tell_nobody_waits() -> None:
    kit, told = Kit(()), list[str]()
    made(kit, "none", told)
    assert told == ["none"]
    kit = Kit()
    kit.registered()
    kit.topics.remove("Orders")
    kit.registration.when_told(lambda: told.append("removed"))
    assert kit.tick(5) == []
    assert told == ["none", "removed"]


def test_who_deletes_a_topic_goes_on_when_no_upload_with_it_is_on_its_way() -> None:
    kit, told = Kit(), list[str]()
    kit.registered()
    (upload,) = kit.tick(30_000)
    assert "Orders" in topics_of(upload)
    kit.topics.remove("Orders")
    kit.registration.when_told(lambda: told.append("removed"))
    assert kit.tick(5) == []
    assert told == []
    kit.answer(upload)
    assert kit.tick(5) == []
    assert told == ["removed"]


def test_goodbye_is_said_to_those_who_know_us_and_nothing_after_it() -> None:
    kit = Kit(("ns:1", "ns:2"))
    first, second = kit.tick()
    kit.answer(first)
    kit.answer(second, None)
    (goodbye,) = kit.registration.unregister()
    assert isinstance(goodbye, Dial)
    assert (goodbye.address, goodbye.command.code) == ("ns:1", UNREGISTER)
    assert goodbye.command.ext_fields == {
        "brokerName": "broker-a",
        "brokerAddr": "10.0.0.1:10911",
        "clusterName": "C",
        "brokerId": "0",
    }
    kit.answer(goodbye, None)
    kit.topics.put(TopicConfig("New"))
    assert kit.tick(60_000) == []
    assert kit.registration.unregister() == []  # once is enough


def test_answers_to_others_are_left_to_them() -> None:
    kit = Kit()
    kit.registered()
    kit.registration.on_answer("ticket", None, kit.clock.now())
    assert kit.tick(5) == []


def test_it_says_for_how_long_there_is_nothing_to_do() -> None:
    kit = Kit()
    assert kit.registration.rest_ms(kit.clock.now()) == 0
    (dial,) = kit.tick()
    assert kit.registration.rest_ms(kit.clock.now()) > 0
    kit.answer(dial, None)
    assert kit.registration.rest_ms(kit.clock.now()) == RETRY_MS_MIN
    (dial,) = kit.tick(RETRY_MS_MIN)
    kit.answer(dial)
    assert kit.registration.rest_ms(kit.clock.advance(1_000)) == PROBE_INTERVAL_MS - 1_000
    assert Kit(()).registration.rest_ms(kit.clock.now()) > 0


def test_without_a_name_server_changes_do_not_pile_up() -> None:
    kit = Kit(())
    kit.topics.put(TopicConfig("New"))
    assert kit.tick() == []
    assert kit.topics.changed == []


class Pair:
    """A registration and a name server of ours."""

    def __init__(self) -> None:
        self.kit = Kit()
        self.nameserver = NameServerKit()

    def run(self, ms: int = 0) -> list[int]:
        """Until there is nothing to say: the codes of what was said."""
        said = []
        dials = self.kit.tick(ms)
        while dials:
            for dial in dials:
                dial.command.opaque = 1
                (answer,) = self.nameserver.send(dial.command, BROKER)
                self.kit.registration.on_answer(dial.ticket, answer, self.kit.clock.now())
                said.append(dial.command.code)
            dials = self.kit.tick()
        return said

    def queues_of(self, topic: str) -> int:
        """What a client would be told; 0: there is no such topic."""
        answer = self.nameserver.ask(105, {"topic": topic}, channel=ChannelId(9))
        if answer.code != 0:
            return 0
        return decode_topic_route(bytes(answer.body)).queues[0].read_queues


def test_a_name_server_of_ours_knows_what_it_was_told() -> None:
    pair = Pair()
    assert pair.run() == [REGISTER]
    assert (pair.queues_of("Orders"), pair.queues_of("New")) == (4, 0)
    pair.kit.topics.put(TopicConfig("New", 2, 2))
    assert pair.run(5) == [REGISTER]
    assert pair.queues_of("New") == 2
    assert pair.run(PROBE_INTERVAL_MS) == [QUERY]
    pair.nameserver = NameServerKit()
    assert pair.run(PROBE_INTERVAL_MS) == [QUERY, REGISTER]
    assert (pair.queues_of("Orders"), pair.queues_of("New")) == (4, 2)
    pair.nameserver = NameServerKit()
    pair.kit.topics.put(TopicConfig("Newer", 3, 3))
    assert pair.run(5) == [REGISTER, REGISTER]  # one topic of a stranger is refused
    assert (pair.queues_of("Orders"), pair.queues_of("Newer")) == (4, 3)
    (goodbye,) = pair.kit.registration.unregister()
    assert isinstance(goodbye, Dial)
    assert pair.nameserver.send(goodbye.command, BROKER)[0].code == 0
    assert pair.queues_of("Orders") == 0


def test_more_topics_than_fit_a_frame_are_told_in_the_shorter_form() -> None:
    (plain,) = Kit().tick()
    size = len(plain.command.body)
    (at_most,) = Kit(plain_bytes_max=size).tick()
    assert at_most.command.ext_fields["compressed"] == "false"
    (dial,) = Kit(plain_bytes_max=size - 1).tick()
    nameserver = NameServerKit()
    fields, body = dial.command.ext_fields, bytes(dial.command.body)
    assert (fields["compressed"], len(body) < size) == ("true", True)
    assert nameserver.ask(REGISTER, fields, body, channel=BROKER).code == 0
    route = decode_topic_route(bytes(nameserver.ask(105, {"topic": "Orders"}).body))
    assert [queue.read_queues for queue in route.queues] == [4]


def test_those_that_do_not_know_it_are_strangers() -> None:
    kit = Kit(("ns:1", "ns:2"))
    first, second = kit.tick()
    assert kit.registration.strangers() == ["ns:1", "ns:2"]
    kit.answer(first)
    kit.answer(second, None)
    assert kit.registration.strangers() == ["ns:2"]
