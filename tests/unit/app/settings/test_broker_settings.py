from pathlib import Path

import pytest

from aerobee.app.settings.broker_settings import (
    ALL_SETTINGS,
    IGNORED,
    WITHOUT_EFFECT,
    BrokerNames,
    BrokerSettings,
    read_settings,
)
from aerobee.app.settings.config import BadConfig, Given, ListenConfig
from aerobee.app.settings.monitor_settings import Exporter, MonitorConfig
from aerobee.model.access import Credentials
from aerobee.protocol.text.java_properties import parse_properties
from aerobee.service.broker.config import BrokerConfig
from aerobee.storage.config import HOUR_MS, FlushMode, StorageConfig
from tests.captured import captured


class Files:
    """A configuration file, and a store with a file of changes."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "broker.conf"
        self.root = folder / "store"
        self.changes = self.root / "config/aerobee.properties"

    def read(
        self,
        config: str = "",
        changes: str | None = None,
        flags: tuple[Given, ...] = (),
        environment: dict[str, str] | None = None,
        defaults: tuple[Given, ...] = (),
    ) -> BrokerSettings:
        self.config.write_text(f"storePathRootDir={self.root}\n{config}")
        if changes is not None:
            self.changes.parent.mkdir(parents=True, exist_ok=True)
            self.changes.write_text(changes)
        return read_settings(str(self.config), environment or {}, flags, defaults)

    def mistakes(self, config: str) -> tuple[str, ...]:
        with pytest.raises(BadConfig) as caught:
            self.read(config)
        return caught.value.mistakes


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_without_anything_given_a_broker_is_rocketmqs_on_loopback() -> None:
    settings = read_settings(None, {}, ())
    assert settings.listen == ListenConfig(10911, "127.0.0.1")
    assert settings.names == BrokerNames("broker-a", "DefaultCluster", "", 0)
    assert settings.nameservers == ()
    assert settings.paths.root == str(Path.home() / "store")
    assert settings.storage == StorageConfig()
    assert settings.service == BrokerConfig()
    assert (settings.changes, settings.ignored) == ({}, [])


def test_rocketmqs_names_reach_every_part(files: Files) -> None:
    settings = files.read(
        """
        brokerName=b
        brokerClusterName=c
        brokerId=0
        brokerRole=ASYNC_MASTER
        brokerIP1=10.0.0.9
        listenPort=20911
        haListenPort=20999
        bindAddress=0.0.0.0
        insecure=true
        namesrvAddr=a:1;b:2
        mappedFileSizeCommitLog=65536
        mappedFileSizeConsumeQueue=600010
        maxIndexNum=7
        maxHashSlotNum=3
        messageIndexEnable=false
        flushDiskType=SYNC_FLUSH
        flushIntervalCommitLog=1500
        fileReservedTime=48
        diskSpaceCleanForciblyRatio=70
        diskSpaceWarningLevelRatio=80
        maxMessageSize=1000
        messageDelayLevel=1s 2m
        enabledAppendPropCRC=false
        autoCreateTopicEnable=false
        registerNameServerPeriod=10000
        """
    )
    assert settings.listen == ListenConfig(20911, "0.0.0.0", is_insecure=True)
    assert settings.names == BrokerNames("b", "c", "10.0.0.9", 20999)
    assert settings.nameservers == ("a:1", "b:2")
    assert settings.storage == StorageConfig(
        log_file_bytes=65536,
        queue_file_units=30_001,
        index_units=7,
        index_slots=3,
        index_enabled=False,
        flush_mode=FlushMode.SYNC,
        flush_interval_ms=1500,
        flush_lag_ms_max=3000,
        retention_ms=48 * HOUR_MS,
        disk_used_ratio_clean=0.7,
        disk_used_ratio_full=0.8,
        delay_levels_ms=(1_000, 120_000),
        record_crc=False,
    )
    assert settings.service == BrokerConfig(
        body_bytes_max=1000,
        creates_topics=False,
        register_interval_ms=10_000,
        retention_ms=48 * HOUR_MS,
    )


@pytest.mark.parametrize(
    ("text", "lag_ms_max"),
    [
        ("", 1000),
        ("osPageCacheBusyTimeOutMills=5000", 5000),
        ("osPageCacheBusyTimeOutMills=100", 1000),  # it is written to every 500 ms
        ("osPageCacheBusyTimeOutMills=5000\nflushIntervalCommitLog=3000", 6000),
    ],
)
def test_a_disk_may_be_busy_for_as_long_as_is_said_and_for_two_intervals_at_least(
    files: Files, text: str, lag_ms_max: int
) -> None:
    assert files.read(text).storage.flush_lag_ms_max == lag_ms_max


def test_flags_count_over_environment_over_changes_over_file_over_defaults(files: Files) -> None:
    flag = Given("brokerPermission", "4", "--permission")
    variable = {"AEROBEE_BROKER_BROKER_PERMISSION": "3"}
    config, changes = "brokerPermission=1", "brokerPermission=2"
    default = (Given("brokerPermission", "0", "default of somebody"),)
    assert files.read(defaults=default).service.permission == 0
    assert files.read(config, defaults=default).service.permission == 1
    assert files.read(config, changes).service.permission == 2
    assert files.read(config, changes, environment=variable).service.permission == 3
    assert files.read(config, changes, (flag,), variable).service.permission == 4
    assert files.read(config, changes).changes == {"brokerPermission": "2"}


def test_rocketmqs_own_variable_says_the_name_servers_below_the_file(files: Files) -> None:
    environment = {"NAMESRV_ADDR": "a:1;b:2"}
    assert files.read(environment=environment).nameservers == ("a:1", "b:2")
    assert files.read("namesrvAddr=c:3", environment=environment).nameservers == ("c:3",)


def test_the_folders_of_the_store_may_be_named_but_not_moved(files: Files) -> None:
    files.read(
        f"storePathCommitLog={files.root}/commitlog/\nstorePathConsumeQueue={files.root}/consumequeue\n"
        f"storePathIndex={files.root}/index\nstoreCheckpoint={files.root}/checkpoint\n"
        f"abortFile={files.root}/abort\n"
    )
    (mistake,) = files.mistakes("storePathCommitLog=/elsewhere/commitlog")
    assert mistake.startswith(f"storePathCommitLog must be {files.root}/commitlog, not /elsewhere")


@pytest.mark.parametrize(
    "line",
    [
        "enableControllerMode=true",
        "storeType=defaultRocksDB",
        "aclEnable=true",
    ],
)
def test_a_promise_that_is_not_kept_here_is_a_mistake(files: Files, line: str) -> None:
    (mistake,) = files.mistakes(line)
    assert f"line 2: {line.split('=')[0]} must be " in mistake


ACCESS = (
    "authenticationEnabled=true\nauthorizationEnabled=true\n"
    'initAuthenticationUser={"username":"root","password":"hidden1"}\n'
    'innerClientAuthenticationCredentials={"accessKey":"inner","secretKey":"hidden2"}\n'
)


def test_users_are_asked_who_they_are_by_rocketmqs_settings(files: Files) -> None:
    told = files.read(
        f"{ACCESS}authenticationWhitelist=105\nuserCacheMaxNum=10\n"
        "authenticationStrategy=org.apache.rocketmq.auth.authentication.strategy."
        "StatefulAuthenticationStrategy\nauthenticationMetadataProvider="
        "org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider\n"
    )
    access = told.access
    assert (access.authenticates, access.authorizes, access.trusts_connections) == (True,) * 3
    assert access.init_user == Credentials("root", "hidden1")
    assert access.inner == Credentials("inner", "hidden2")
    assert access.unsigned_codes == {105}
    assert told.key_path == f"{files.root}/config/access.key"
    assert list(told.ignored) == ["userCacheMaxNum"]
    assert files.read("authKeyPath=/elsewhere/key").key_path == "/elsewhere/key"


def test_no_secret_of_the_settings_is_shown(files: Files) -> None:
    told = files.read(ACCESS)
    assert "hidden" not in f"{told!r}{told.effective}{told.shown()}"
    wrong = 'initAuthenticationUser={"username":"root","password":"hidden1"'
    assert "hidden" not in str(files.mistakes(wrong))


def test_settings_of_access_that_promise_what_they_do_not_keep_are_mistakes(files: Files) -> None:
    for text in (
        "authorizationEnabled=true",
        "authenticationEnabled=true",
        "migrateAuthFromV1Enabled=true",
        "authenticationProvider=com.example.Mine",
        ACCESS.replace("inner", "#", 1) + "brokerRole=SLAVE\nbrokerId=1",
    ):
        (mistake,) = files.mistakes(text)
        assert (
            "nnerClientAuthenticationCredentials" in mistake
            or "must be" in mistake
            or ("anybody could name any user" in mistake)
        )


def test_a_slave_needs_an_id_above_0(files: Files) -> None:
    (mistake,) = files.mistakes("brokerRole=SLAVE")
    assert mistake == "brokerRole=SLAVE needs a brokerId above 0: write brokerId=1"
    told = files.read("brokerRole=SLAVE\nbrokerId=2")
    assert (told.broker_id, told.replication.role.is_master, told.warnings) == (2, False, [])


def test_a_master_has_the_id_0_and_is_told_so(files: Files) -> None:
    told = files.read("brokerId=1")
    assert told.broker_id == 0
    (warning,) = told.warnings
    assert "write brokerRole=SLAVE" in warning


def test_a_promise_that_is_not_kept_is_a_warning_with_what_to_write(files: Files) -> None:
    (warning,) = files.read("brokerRole=SYNC_MASTER").warnings
    assert "write inSyncReplicas=2" in warning
    (mistake,) = files.mistakes("inSyncReplicas=3\ntotalReplicas=2\nbrokerRole=SYNC_MASTER")
    assert "can never be reached" in mistake


@pytest.mark.parametrize("port", ["1", "2", "65536", "-1", "x"])
def test_a_port_needs_another_one_below_it(files: Files, port: str) -> None:
    (mistake,) = files.mistakes(f"listenPort={port}")
    assert "listenPort must be 0 or a whole number from 3 to 65535" in mistake


def test_all_mistakes_are_said_at_once_with_what_was_meant(files: Files) -> None:
    assert files.mistakes(
        "listenPort=x\nmapedFileSizeCommitLog=1\nflushDiskType=NEVER\nbrokerNmae=b\nnonsense=1"
    ) == (
        f"{files.config} line 2: listenPort must be 0 or a whole number from 3 to 65535, not 'x'",
        f"{files.config} line 4: flushDiskType must be ASYNC_FLUSH or SYNC_FLUSH, not 'NEVER'",
        f"{files.config} line 3: mapedFileSizeCommitLog is not known: "
        "did you mean mappedFileSizeCommitLog?",
        f"{files.config} line 5: brokerNmae is not known: did you mean brokerName?",
        f"{files.config} line 6: nonsense is not known",
    )


def test_relations_between_values_are_checked(files: Files) -> None:
    (mistake,) = files.mistakes("diskSpaceCleanForciblyRatio=90\ndiskSpaceWarningLevelRatio=80")
    assert "ratio" in mistake


def test_everything_that_apaches_broker_says_of_itself_is_known(files: Files) -> None:
    """Its own answer to GET_BROKER_CONFIG, as a file."""
    (answer,) = captured("GET_BROKER_CONFIG", "response")
    said = {key: text for _, key, text in parse_properties(bytes(answer.body).decode())}
    assert len(said) > 400
    # That one had SQL and its own idea of where it was.
    for key in ("storePathRootDir", "configBlackList"):
        del said[key]
    settings = files.read("\n".join(f"{key}={text}" for key, text in said.items()))
    assert settings.listen.port == 50911
    assert settings.storage.log_file_bytes == 16 << 20
    assert "sendMessageThreadPoolNums" in settings.ignored
    assert "fileReservedTime" not in settings.ignored


def test_strict_locks_are_reported_as_without_effect_and_refused_with_the_reason(
    files: Files,
) -> None:
    assert files.read("lockInStrictMode=true").ignored == ["lockInStrictMode"]
    assert "no majority" in WITHOUT_EFFECT["lockInStrictMode"]


def test_nothing_is_both_known_and_ignored() -> None:
    keys = [setting.key for setting in ALL_SETTINGS]
    assert len(keys) == len(set(keys))
    assert not IGNORED & set(keys)


def test_what_is_shown_to_who_asks_has_no_path(files: Files) -> None:
    shown = files.read("brokerIP1=10.0.0.9").shown()
    assert shown["brokerIP1"] == "10.0.0.9"
    assert shown["brokerRole"] == "ASYNC_MASTER"
    assert shown["messageDelayLevel"].startswith("1s 5s")
    assert not any("/" in text for text in shown.values())


def test_what_holds_can_be_given_as_a_file(files: Files, tmp_path: Path) -> None:
    settings = files.read("brokerName=b\nnamesrvAddr=a:1\nflushDiskType=SYNC_FLUSH")
    again = tmp_path / "again.conf"
    again.write_text(settings.effective)
    read = read_settings(str(again), {}, ())
    assert (read.names, read.storage, read.paths) == (
        settings.names,
        settings.storage,
        settings.paths,
    )


def test_metrics_are_shown_when_rocketmqs_keys_say_so(tmp_path: Path) -> None:
    files = Files(tmp_path)
    assert files.read().monitor == MonitorConfig(Exporter.DISABLE, 5557, "")
    told = "metricsExporterType=PROM\nmetricsPromExporterPort=9\nmetricsPromExporterHost=::1\n"
    assert files.read(told).monitor == MonitorConfig(Exporter.PROM, 9, "::1")
    assert files.read("metricsOtelCardinalityLimit=7\n").service.samples_max == 7
    with pytest.raises(BadConfig, match="metricsExporterType must be DISABLE or PROM"):
        files.read("metricsExporterType=OTLP_GRPC\n")


def test_a_port_is_for_one_thing(files: Files) -> None:
    port = "listenPort=10911\n"
    assert files.mistakes(f"{port}grpcServerPort=10911") == (
        "grpcServerPort=10911 is listenPort, too: choose another one",
    )
    (mistake,) = files.mistakes(f"{port}haListenPort=10909")
    assert "the port two below listenPort" in mistake
    (mistake,) = files.mistakes(f"{port}haListenPort=10912\ngrpcServerPort=10912")
    assert "haListenPort, too" in mistake
    assert files.read(f"{port}haListenPort=10912\ngrpcServerPort=8081").names.grpc_port == 8081
    assert files.read("listenPort=0\ngrpcServerPort=0").names.grpc_port == 0
