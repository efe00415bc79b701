import contextlib

from tests.console_kit import ConsoleClient


def test_figures_of_brokers_topics_and_groups_become_series(console: ConsoleClient) -> None:
    wanted = {
        "cluster.in",
        "cluster.lag",
        "cluster.transactions",
        "broker.broker-a.disk",
        "broker.broker-a.log_bytes",
        "topic.orders.messages",
        "group.billing.lag",
        "group.billing.members",
        "group.billing.lag.orders.broker-a.0",
    }
    found: dict[str, float] = {}
    path = f"/api/live?series={','.join(sorted(wanted))}"
    with contextlib.closing(console.events(path)) as events:
        for name, data in events:
            if name == "sample":
                found |= data["values"]
            if wanted <= found.keys():
                break
    assert found["topic.orders.messages"] == 6
    assert found["group.billing.lag"] == 4
    assert found["cluster.lag"] >= 4
