from pathlib import Path

from aerobee.app.diagnosis.examination import Subject, examine
from aerobee.app.diagnosis.finding import BAD, OK, WARN
from tests.tls_kit import certificates

NOWHERE = "127.0.0.1:1"


def test_everything_is_looked_at_in_order(tmp_path: Path) -> None:
    config = tmp_path / "broker.conf"
    config.write_text(
        f"namesrvAddr={NOWHERE}\nstorePathRootDir={tmp_path}/store\nsendMessageThreadPoolNums=1\n"
    )
    found = examine(Subject(NOWHERE, False, str(config), environment={}))
    areas = [one.area for one in found]
    assert list(dict.fromkeys(areas)) == [
        "runtime",
        "kernel",
        "disk",
        "clock",
        "cluster",
        "settings",
    ]
    (room,) = [one for one in found if one.subject == "room"]
    assert str(tmp_path) in room.seen  # the store is where the configuration says
    assert {one.level for one in found if one.area == "settings"} == {OK}


def test_settings_that_promise_more_than_they_hold_are_told(tmp_path: Path) -> None:
    config = tmp_path / "broker.conf"
    config.write_text(f"namesrvAddr={NOWHERE}\nbrokerRole=SYNC_MASTER\n")
    found = examine(Subject(NOWHERE, False, str(config), str(tmp_path), environment={}))
    (warning,) = [one for one in found if (one.area, one.level) == ("settings", WARN)]
    assert "SYNC_MASTER with inSyncReplicas=1" in warning.seen
    assert warning.change.startswith("write inSyncReplicas=2")


def test_passwords_in_a_file_that_others_may_read_are_told(tmp_path: Path) -> None:
    config = tmp_path / "broker.conf"
    user = 'initAuthenticationUser={"username":"root","password":"hidden"}\n'
    for text, mode, is_told in ((user, 0o644, True), (user, 0o600, False), ("", 0o644, False)):
        config.write_text(f"namesrvAddr={NOWHERE}\n{text}")
        config.chmod(mode)
        found = examine(Subject(NOWHERE, False, str(config), str(tmp_path), environment={}))
        assert any("has passwords" in one.seen for one in found) == is_told
        assert not any("hidden" in f"{one}" for one in found)


def test_certificates_are_judged_with_the_settings(tmp_path: Path) -> None:
    config = tmp_path / "broker.conf"
    for pair, level in ((certificates().host, OK), (certificates().expired, BAD)):
        config.write_text(
            f"namesrvAddr={NOWHERE}\ntlsMode=enforcing\n"
            f"tlsCertificate={pair.certificate}\ntlsKey={pair.key}\n"
        )
        found = examine(Subject(NOWHERE, False, str(config), str(tmp_path), environment={}))
        (judged,) = [one for one in found if one.subject == pair.certificate]
        assert judged.level == level
    config.write_text(config.read_text().replace(pair.key, "/nowhere"))
    found = examine(Subject(NOWHERE, False, str(config), str(tmp_path), environment={}))
    assert [one.level for one in found if one.subject == "TLS"] == [BAD]


def test_a_store_that_is_named_goes_before_the_configuration(tmp_path: Path) -> None:
    found = examine(Subject(NOWHERE, True, None, str(tmp_path), environment={}))
    (room,) = [one for one in found if one.subject == "room"]
    assert str(tmp_path) in room.seen
    (server,) = [one for one in found if one.area == "cluster"]
    assert server.level == BAD  # it was named, and is not there
    assert not [one for one in found if one.area == "settings"]


def test_mistakes_of_a_configuration_do_not_stop_the_rest(tmp_path: Path) -> None:
    config = tmp_path / "broker.conf"
    config.write_text("listenPort=x\nnonsense=1\n")
    found = examine(Subject(NOWHERE, False, str(config), str(tmp_path), environment={}))
    mistakes = [one.seen for one in found if one.area == "settings"]
    assert len(mistakes) == 2
    assert any("line 1" in one for one in mistakes)
    assert "disk" in [one.area for one in found]
