import asyncio
import contextlib
from pathlib import Path

from aerobee.app.process.safety import Safety, safety_of
from aerobee.app.settings.audit_settings import AuditConfig
from aerobee.net.tls_config import TlsConfig
from aerobee.ports.audit import AuditEvent
from tests.tls_kit import server_config

EVENT = AuditEvent(1_000, "broker-a", "root", "10.0.0.9", "DELETE", ("Topic:a",), "allow", "OK")


def names(safety: Safety) -> list[str]:
    return [metric.name for metric in safety.metrics()]


def test_a_trail_is_in_the_folder_of_the_server_unless_told_otherwise(tmp_path: Path) -> None:
    async def write(config: AuditConfig) -> None:
        async with contextlib.AsyncExitStack() as undo:
            safety = safety_of(
                TlsConfig(), config, str(tmp_path / "a"), undo, is_exposed=False, asks=True
            )
            assert safety.audit_sink is not None
            safety.audit_sink(EVENT)

    asyncio.run(write(AuditConfig()))
    assert (tmp_path / "a" / "audit" / "audit.jsonl").read_bytes().count(b"\n") == 1
    asyncio.run(write(AuditConfig(folder=str(tmp_path / "b"))))
    assert (tmp_path / "b" / "audit.jsonl").exists()


def test_what_is_off_is_not_there(tmp_path: Path) -> None:
    async def whole() -> None:
        async with contextlib.AsyncExitStack() as undo:
            off = AuditConfig(is_on=False)
            safety = safety_of(TlsConfig(), off, str(tmp_path), undo, is_exposed=True, asks=False)
            assert (safety.tls_state, safety.audit_sink) == (None, None)
            assert names(safety) == ["aerobee_insecure"]
            guarded = safety_of(
                server_config(), AuditConfig(), str(tmp_path), undo, is_exposed=False, asks=True
            )
            assert guarded.tls_state is not None
            assert {"aerobee_tls_reloads_total", "aerobee_audit_events_total"} <= {*names(guarded)}

    asyncio.run(whole())
