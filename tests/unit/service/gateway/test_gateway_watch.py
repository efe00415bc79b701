from aerobee.service.gateway.gateway_watch import QUIET_MS_MAX
from tests.gateway_kit import NAME_SERVER, GatewayKit
from tests.grpc_kit import message, typed


def test_clients_and_requests_by_their_answer_are_counted() -> None:
    kit = GatewayKit(typed("orders", "NORMAL"))
    kit.send(message())
    shown = {one.name: list(one.samples) for one in kit.gateway.watch.metrics(kit.clock.now())}
    assert [one.value for one in shown["aerobee_proxy_clients"]] == [1]
    assert [one.value for one in shown["aerobee_proxy_open_requests"]] == [0]
    total = shown["aerobee_proxy_requests_total"]
    assert [(one.labels, one.value) for one in total] == [({"answer": "SUCCESS"}, 2)]


def test_it_is_not_ready_while_no_name_server_answers_and_not_well_if_nobody_calls_it() -> None:
    kit = GatewayKit()
    kit.produce("orders")
    kit.silent.add(NAME_SERVER)
    kit.pass_time(1_000)
    watch, now = kit.gateway.watch, kit.clock.now()
    assert (watch.ailments(now), watch.obstacles(now)) == ([], ["no name server answers"])
    kit.silent.clear()
    kit.pass_time(11_000, 1_000)
    assert watch.obstacles(kit.clock.now()) == []
    assert len(watch.ailments(kit.clock.advance(QUIET_MS_MAX + 1))) == 1
