from dataclasses import replace

from aerobee.app.diagnosis.finding import BAD, OK, WARN
from aerobee.app.diagnosis.settings import SettingsFacts, settings_findings

GOOD = SettingsFacts("broker.conf", name_servers=("ns:9876",), flush="SYNC_FLUSH")


def levels(facts: SettingsFacts) -> dict[str, str]:
    return {one.subject: one.level for one in settings_findings(facts)}


def test_every_mistake_is_a_finding_and_nothing_else_is() -> None:
    found = settings_findings(replace(GOOD, mistakes=("line 3: no", "line 4: no")))
    assert [(one.level, one.seen) for one in found] == [(BAD, "line 3: no"), (BAD, "line 4: no")]


def test_a_good_file_is_well() -> None:
    assert set(levels(GOOD).values()) == {OK}


def test_keys_without_meaning_are_named_and_no_mistake() -> None:
    found = settings_findings(replace(GOOD, ignored=("haListenPort", "x")))
    assert {one.level for one in found} == {OK}
    assert any("haListenPort, x" in one.seen for one in found)


def test_a_broker_that_nobody_finds_is_told() -> None:
    assert levels(replace(GOOD, name_servers=()))["namesrvAddr"] == WARN


def test_a_broker_off_loopback_should_say_its_address() -> None:
    assert levels(replace(GOOD, host="0.0.0.0"))["brokerIP1"] == WARN
    assert "brokerIP1" not in levels(replace(GOOD, host="0.0.0.0", advertised="10.0.0.1"))
    assert "brokerIP1" not in levels(replace(GOOD, host="127.0.0.1"))


def test_a_broker_that_is_open_to_everybody_is_bad() -> None:
    assert levels(replace(GOOD, host="0.0.0.0", is_exposed=True))["insecure"] == BAD
    assert "insecure" not in levels(GOOD)


def test_passwords_that_others_may_read_are_bad() -> None:
    assert levels(replace(GOOD, shows_passwords=True))["broker.conf"] == BAD


def test_settings_that_do_not_fit_together_say_what_to_write_instead() -> None:
    warnings = ("a=1 does nothing: write a=2", "b=1 is odd")
    found = [
        one for one in settings_findings(replace(GOOD, warnings=warnings)) if one.level == WARN
    ]
    assert [(one.seen, one.change) for one in found] == [
        ("a=1 does nothing", "write a=2"),
        ("b=1 is odd", "change one of them"),
    ]
