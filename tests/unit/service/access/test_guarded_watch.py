from dataclasses import replace

from aerobee.model.access import Rule
from aerobee.service.access.gate import FAILURES_PER_SECOND
from tests.access_kit import ACCESS, guarded_broker, make_user, secret_of, set_rules
from tests.broker_kit import BrokerKit
from tests.nameserver_kit import NameServerKit

GET = Rule("Cluster:DefaultCluster", ("Get",))


def may_look(kit: BrokerKit, name: str, password: str, source: str = "10.0.0.9") -> bool:
    return kit.broker.watch.may_look(name, password, source, kit.clock.now())


def test_whoever_may_get_facts_of_the_cluster_may_look() -> None:
    kit = guarded_broker()
    for name, rules in (("ops", (GET,)), ("alice", ())):
        make_user(kit, name, *rules)
    assert kit.broker.watch.asks_who_looks
    assert may_look(kit, "root", "root-secret")
    assert may_look(kit, "ops", secret_of("ops"))
    assert not may_look(kit, "ops", "wrong")
    assert not may_look(kit, "alice", secret_of("alice"))
    assert not may_look(kit, "nobody", "nobody has this password")
    assert not may_look(kit, "", "")
    set_rules(kit, "ops", replace(GET, sources=("10.0.0.8",)))
    assert not may_look(kit, "ops", secret_of("ops"))
    assert may_look(kit, "ops", secret_of("ops"), "10.0.0.8")


def test_guesses_slow_down() -> None:
    kit = guarded_broker()
    for _ in range(FAILURES_PER_SECOND):
        assert not may_look(kit, "root", "guess")
    assert not may_look(kit, "root", "root-secret")
    assert may_look(kit, "root", "root-secret", "10.0.0.8")
    kit.tick(1_000)
    assert may_look(kit, "root", "root-secret")


def test_failed_log_ins_are_counted_where_anybody_logs_in() -> None:
    name = "aerobee_failed_log_ins_total"

    def failed(kit: BrokerKit | NameServerKit) -> list[object]:
        watch = kit.broker.watch if isinstance(kit, BrokerKit) else kit.service.watch
        metrics = [one for one in watch.metrics(kit.clock.now()) if one.name == name]
        return [sample.value for one in metrics for sample in one.samples]

    kit = guarded_broker()
    assert failed(kit) == [0]
    assert not may_look(kit, "root", "guess")
    assert kit.ask(28, {"AccessKey": "root", "Signature": "guess"}).code == 16
    assert may_look(kit, "root", "root-secret")
    assert failed(kit) == [2]
    assert failed(BrokerKit()) == []
    assert failed(NameServerKit(access=ACCESS)) == [0]


def test_without_authentication_everybody_may_look() -> None:
    kit = BrokerKit()
    assert not kit.broker.watch.asks_who_looks
    assert may_look(kit, "", "")


def test_without_authorization_every_user_may_look() -> None:
    kit = guarded_broker(access=replace(ACCESS, authorizes=False))
    make_user(kit, "alice")
    assert may_look(kit, "alice", secret_of("alice"))
    assert not may_look(kit, "alice", "wrong")


def test_a_service_is_shown_as_it_is() -> None:
    kit = guarded_broker()
    now = kit.clock.now()
    watch = kit.broker.watch
    assert watch.labels["node_type"] == "broker"
    assert any(metric.name == "rocketmq_topic_number" for metric in watch.metrics(now))
    assert watch.ailments(now) == []
    assert isinstance(watch.obstacles(now), list)
    assert not NameServerKit().service.watch.asks_who_looks
    assert NameServerKit(access=ACCESS).service.watch.asks_who_looks
