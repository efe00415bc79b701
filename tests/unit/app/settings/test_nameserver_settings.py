from pathlib import Path

import pytest

from aerobee.app.settings.config import BadConfig, Given, ListenConfig
from aerobee.app.settings.nameserver_settings import NameServerSettings, read_settings
from aerobee.service.nameserver.config import NameServerConfig


class Files:
    """A configuration file and a file of changes."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "namesrv.conf"
        self.changes = folder / "changes.properties"

    def read(
        self,
        config: str = "",
        changes: str | None = None,
        flags: tuple[Given, ...] = (),
        environment: dict[str, str] | None = None,
    ) -> NameServerSettings:
        self.config.write_text(f"configStorePath={self.changes}\n{config}")
        if changes is not None:
            self.changes.write_text(changes)
        return read_settings(str(self.config), environment or {}, flags)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_without_anything_given_a_name_server_is_rocketmqs_on_loopback(files: Files) -> None:
    settings = files.read()
    assert settings.listen == ListenConfig(9876, "127.0.0.1")
    assert settings.service == NameServerConfig()
    assert settings.paths.key_values == str(Path.home() / "namesrv/kvConfig.json")
    assert (settings.changes, settings.ignored) == ({}, [])


def test_another_address_than_loopback_needs_authentication_or_the_word_insecure(
    files: Files,
) -> None:
    with pytest.raises(BadConfig, match=r"bindAddress=0\.0\.0\.0 is open .* --insecure"):
        files.read("bindAddress=0.0.0.0")
    assert files.read("bindAddress=0.0.0.0\ninsecure=true").is_exposed
    assert not files.read("bindAddress=::1").is_exposed


def test_flags_count_over_environment_over_changes_over_file(files: Files) -> None:
    flag = Given("waitSecondsForService", "4", "--wait")
    variable = {"AEROBEE_NAMESRV_WAIT_SECONDS_FOR_SERVICE": "3"}
    config, changes = "waitSecondsForService=1", "waitSecondsForService=2"
    assert files.read(config).service.wait_ms == 1000
    assert files.read(config, changes).service.wait_ms == 2000
    assert files.read(config, changes, environment=variable).service.wait_ms == 3000
    assert files.read(config, changes, (flag,), variable).service.wait_ms == 4000
    assert files.read(config, changes).changes == {"waitSecondsForService": "2"}


def test_the_place_of_the_changes_may_come_from_the_environment(
    files: Files, tmp_path: Path
) -> None:
    other = tmp_path / "other.properties"
    other.write_text("orderMessageEnable=true")
    settings = files.read(environment={"AEROBEE_NAMESRV_CONFIG_STORE_PATH": str(other)})
    assert settings.service.has_order_in_routes


def test_the_operators_file_is_not_the_file_of_changes(files: Files) -> None:
    with pytest.raises(BadConfig, match=r"configStorePath is .* itself"):
        files.read(f"configStorePath={files.config}")


def test_mistakes_of_all_sources_are_reported_together(files: Files) -> None:
    with pytest.raises(BadConfig) as caught:
        files.read(
            "listenPort=x\nkvConfigPath=\nscanNotActiveBrokerInterval=0",
            "enableTopicList=perhaps",
            (Given("listenPort", "y", "--port"),),
            {"AEROBEE_NAMESRV_NONSENSE": "1"},
        )
    assert len(caught.value.mistakes) == 6
