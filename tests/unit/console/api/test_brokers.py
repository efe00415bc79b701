from aerobee.console.api.brokers import config_rows
from tests.console_kit import ConsoleClient

PATH = "/api/brokers/broker-a"


def test_a_broker_has_its_replicas_figures_and_settings(console: ConsoleClient) -> None:
    told = console.get(PATH)
    assert [one["is_master"] for one in told["members"]] == [True]
    assert {"putTps", "bootTimestamp"} <= {one["key"] for one in told["figures"]}
    config = {one["key"]: one for one in told["config"]}
    assert config["brokerName"]["value"] == "broker-a"
    assert config["mappedFileSizeCommitLog"]["differs"] is True
    assert "epochs" in told["unknown"]
    assert console.ask("GET", "/api/brokers/nothing").status == 404


def test_settings_are_compared_with_defaults_only_where_these_are_known() -> None:
    (ours,) = config_rows({"brokerName": "x"}, is_ours=True)
    assert (ours["differs"], ours["hot"]) == (True, False)
    (others,) = config_rows({"brokerName": "x"}, is_ours=False)
    assert (others["default"], others["differs"], others["hot"]) == (None, None, None)


def test_a_setting_is_changed_while_the_broker_runs(console: ConsoleClient) -> None:
    def hot() -> tuple[str, str]:
        rows = console.get(PATH)["config"]
        row = next(one for one in rows if one["key"] == "longPollingEnable")
        return row["value"], row["hot"]

    before, _ = hot()
    after = "false" if before == "true" else "true"
    body = {"settings": {"longPollingEnable": after}}
    assert console.change("PATCH", f"{PATH}/config", body).code == "confirm"
    would = console.change("PATCH", f"{PATH}/config", {**body, "dry_run": True}).json()
    assert would["preview"]["changes"] == [
        {"key": "longPollingEnable", "from": before, "to": after}
    ]
    assert hot()[0] == before
    done = console.change("PATCH", f"{PATH}/config", {**body, "confirm": "broker-a"})
    assert done.status == 200, done.body
    assert hot()[0] == after
    back = {"settings": {"longPollingEnable": before}, "confirm": "broker-a"}
    assert console.change("PATCH", f"{PATH}/config", back).status == 200
    wrong = {"settings": {"storePathRootDir": "/x"}, "confirm": "broker-a"}
    assert console.change("PATCH", f"{PATH}/config", wrong).code == "refused"


def test_writes_are_forbidden_and_allowed_again(console: ConsoleClient) -> None:
    for allowed in (False, True):
        told = console.change("POST", f"{PATH}/writes", {"allowed": allowed, "confirm": "broker-a"})
        assert told.status == 200, told.body


def test_a_broker_without_a_group_has_nobody_to_hand_over_to(console: ConsoleClient) -> None:
    told = console.change("POST", f"{PATH}/leader", {"confirm": "broker-a"})
    assert told.status in (400, 404, 501, 502)
