import contextlib
import logging
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from aerobee.app.authority import Authority
from aerobee.app.process.lifecycle import CannotStart
from aerobee.app.process.tls_files import TlsFiles, expiries, tls_files_of
from aerobee.net.tls_config import TlsConfig
from tests.net_kit import in_loop, turn
from tests.tls_kit import Pair, certificates, server_config


@pytest.fixture
def own(tmp_path: Path) -> TlsConfig:
    """A configuration whose files a test may change."""
    for path, name in zip(certificates().host, ("host.crt", "host.key"), strict=True):
        shutil.copy(path, tmp_path / name)
    return server_config(Pair(str(tmp_path / "host.crt"), str(tmp_path / "host.key")))


def put(config: TlsConfig, pair: Pair, *, has_key: bool = True) -> None:
    for source, to in ((pair.certificate, config.certificate), (pair.key, config.key)):
        if to == config.certificate or has_key:
            shutil.copy(source, f"{to}.new")
            Path(f"{to}.new").replace(to)


def test_files_that_change_are_read_again(own: TlsConfig) -> None:
    files = TlsFiles(own)
    before = files.state.service
    files.look_again()
    assert (files.state.service, files.reloads) == (before, 0)
    put(own, certificates().elsewhere)
    files.look_again()
    assert files.state.service is not before
    assert files.reloads == 1


def test_a_certificate_that_waits_for_its_key_is_not_used_until_it_is_there(
    own: TlsConfig, caplog: pytest.LogCaptureFixture
) -> None:
    files = TlsFiles(own)
    before = files.state.service
    put(own, certificates().elsewhere, has_key=False)
    files.look_again()
    files.look_again()
    assert files.state.service is before
    assert caplog.text.count("cannot be used yet") == 1
    put(own, certificates().elsewhere)
    files.look_again()
    assert files.state.service is not before


def test_a_file_that_cannot_be_used_is_a_reason_not_to_start(own: TlsConfig) -> None:
    with pytest.raises(CannotStart, match="the key is not the certificate's"):
        TlsFiles(replace(own, key=certificates().client.key))


@pytest.mark.parametrize(
    ("days", "told"), [(40, ""), (29, "in 29.0 days"), (6, "in 6.0"), (-1, "has expired")]
)
def test_it_is_told_in_time_and_once_that_a_certificate_expires(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, days: int, told: str
) -> None:
    authority = Authority(str(tmp_path))
    authority.make()
    config = server_config(Pair(*authority.issue("h", ["localhost"], days)))
    files = TlsFiles(config)
    with caplog.at_level(logging.WARNING):
        files.look_again()
        files.look_again()
    assert caplog.text.count("aerobee tls issue") == (1 if told else 0)
    assert told in caplog.text


def test_metrics_tell_when_certificates_end_and_no_path(own: TlsConfig) -> None:
    files = TlsFiles(own)
    shown = {one.name: list(one.samples) for one in files.metrics()}
    ends = shown["aerobee_tls_certificate_not_after_seconds"]
    assert {one.labels["certificate"]: one.value for one in ends} == {
        one.use: one.ends for one in expiries(own)
    }
    assert "host.crt" not in str(shown)


def test_a_process_without_tls_has_no_files() -> None:
    async def test() -> None:
        async with contextlib.AsyncExitStack() as undo:
            assert tls_files_of(TlsConfig(), undo) is None
            files = tls_files_of(server_config(), undo)
            assert files is not None

    in_loop(test)


def test_files_are_watched_until_it_stops(own: TlsConfig) -> None:
    async def test() -> None:
        files = TlsFiles(own, watch_seconds=0.01)
        files.start()
        put(own, certificates().elsewhere)
        while not files.reloads:
            await turn()
        files.stop()

    in_loop(test)
