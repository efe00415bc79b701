"""How clients of gRPC are listed: by the requests of tools."""

import json
from typing import Any

import pytest

from tests.grpc_kit import GrpcKit, typed

OWN_VERSION = 513


def agent(language: str, version: str) -> dict[str, Any]:
    return {"metadata": {"x-mq-language": language, "x-mq-client-version": version}}


def listed(kit: GrpcKit, code: int, fields: dict[str, str]) -> list[dict[str, Any]]:
    answer = kit.ask(code, fields)
    assert answer.code == 0
    rows: list[dict[str, Any]] = json.loads(bytes(answer.body))["connectionSet"]
    return rows


@pytest.mark.parametrize(
    ("said", "language", "version"),
    [
        (("GO", "5.1.4"), "GO", 441),
        (("JAVA", "5.0.7"), "JAVA", 427),
        (("HTTP", "1.0.7"), "HTTP", OWN_VERSION),
        (("COBOL", "5.12.1"), "OTHER", OWN_VERSION),
        (("", ""), "OTHER", OWN_VERSION),
        (("PYTHON", "5.1.2-SNAPSHOT"), "PYTHON", 437),
    ],
)
def test_a_client_is_listed_with_its_program(
    said: tuple[str, str], language: str, version: int
) -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    kit.produce("orders", client="p", **agent(*said))
    kit.consume("g", "orders", client="c", **agent(*said))
    for code, fields, client in (
        (203, {"consumerGroup": "g"}, "c"),
        (204, {"producerGroup": "orders"}, "p"),
    ):
        (row,) = listed(kit, code, fields)
        assert row["clientId"] == client
        assert (row["language"], row["version"]) == (language, version)
        assert (row["protocolType"], row["clientAddr"]) == ("grpc", "10.0.0.9:50000")


def test_the_table_of_all_producers_has_those_of_grpc() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    kit.produce("orders", client="p", **agent("RUST", "5.0.0"))
    (row,) = json.loads(bytes(kit.ask(328).body))["data"]["orders"]
    assert (row["clientId"], row["language"], row["protocolType"]) == ("p", "RUST", "grpc")


def test_monitoring_tells_the_protocols_apart() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    kit.produce("orders", client="p", **agent("GO", "5.1.4"))
    kit.beat("remote", "g", {"orders": "*"})
    found = {
        metric.name: [dict(one.labels) for one in metric.samples]
        for metric in kit.broker.watch.metrics(kit.clock.now())
    }
    (producer,) = found["rocketmq_producer_connections"]
    assert (producer["protocol_type"], producer["language"]) == ("grpc", "go")
    (consumer,) = found["rocketmq_consumer_connections"]
    assert consumer["protocol_type"] == "remoting"
