import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from aerobee.console.history.prometheus import Prometheus, filled, query_of
from aerobee.errors import NoAnswer


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("cluster.in", "sum(rate(rocketmq_messages_in_total{}[600s]))"),
        ("broker.b.in_bytes", 'sum(rate(rocketmq_throughput_in_total{node_id="b"}[600s]))'),
        ("topic.a%2Eb.out", 'sum(rate(rocketmq_messages_out_total{topic="a.b"}[600s]))'),
        (
            "group.g.lag",
            'sum(rocketmq_consumer_lag_messages{consumer_group="g",is_retry!="true"})',
        ),
        ('topic.x"}.in', 'sum(rate(rocketmq_messages_in_total{topic="x\\"}"}[600s]))'),
        (
            "broker.b.put_p99_ms",
            "histogram_quantile(0.99, sum by (le) (rate(rocketmq_rpc_latency_bucket"
            '{node_id="b",request_code=~"send.*"}[600s])))',
        ),
        ("group.g.lag.t.b.0", None),
        ("group.g.in", None),
        ("cluster.delayed", None),
        ("other.x.in", None),
    ],
)
def test_series_become_queries_of_metrics(name: str, query: str | None) -> None:
    assert query_of(name, 300_000) == query


class Answers(BaseHTTPRequestHandler):
    asked: list[dict[str, list[str]]]

    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        self.asked.append(asked)
        values = [[1_000, "2.5"], [1_020, "NaN"]]
        if "broken" in asked["query"][0]:
            values = [["?"]]
        result = [] if "empty" in asked["query"][0] else [{"metric": {}, "values": values}]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"data": {"result": result}}).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def server() -> Iterator[str]:
    Answers.asked = []
    made = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{made.server_address[1]}/"
    made.shutdown()
    thread.join()
    made.server_close()


def test_values_are_put_at_their_times_and_series_without_any_are_left_out(server: str) -> None:
    names = ["cluster.in", "topic.empty.in", "cluster.delayed"]
    times = [1_000_000, 1_010_000, 1_020_000]
    told = asyncio.run(Prometheus(server).read(names, times, 10_000))
    assert told == {"cluster.in": [2.5, None, None]}
    assert len(Answers.asked) == 2
    first = next(one for one in Answers.asked if "topic" not in one["query"][0])
    assert (first["start"], first["end"], first["step"]) == (["1000.000"], ["1020.000"], ["10"])
    assert filled([1.0, 2.0, None], told["cluster.in"]) == [2.5, 2.0, None]


def test_an_answer_that_is_none_is_said(server: str) -> None:
    with pytest.raises(NoAnswer, match="something else"):
        asyncio.run(Prometheus(server).read(["topic.broken.in"], [1_000_000], 10_000))
