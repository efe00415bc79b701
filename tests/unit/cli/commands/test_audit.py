from pathlib import Path

from aerobee.app.audit_folder import CURRENT, event_line
from aerobee.ports.audit import AuditEvent
from tests.cli_kit import OnTerminal, aerobee_here

EVENT = AuditEvent(
    1_700_000_000_123, "broker-a", "root", "10.0.0.9", "DELETE", ("Topic:a",), "allow", "SUCCESS"
)
REFUSED = EVENT._replace(user="eve", decision="deny", answer="NO_PERMISSION", reason="no rule")


def folder_of(folder: Path, *events: AuditEvent) -> str:
    with (folder / CURRENT).open("ab") as file:
        file.writelines(map(event_line, events))
    return str(folder)


def test_the_last_events_are_shown(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, *([EVENT] * 30), REFUSED)
    said = aerobee_here("audit", "tail", "--dir", folder, "-o", "json")
    assert len(said.records) == 20
    assert said.records[-1] == {
        "time": "2023-11-14T22:13:20.123Z",
        "decision": "deny",
        "user": "eve",
        "from": "10.0.0.9",
        "request": "DELETE",
        "on": "Topic:a",
        "answer": "NO_PERMISSION",
        "reason": "no rule",
        "left_out": 0,
        "server": "broker-a",
    }
    few = aerobee_here("audit", "tail", "--dir", folder, "--count", "3", "-o", "json")
    assert len(few.records) == 3


def test_events_are_searched(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, EVENT, REFUSED)

    def users(*words: str) -> list[str]:
        said = aerobee_here("audit", "search", "--dir", folder, "-o", "json", *words)
        assert said.status == 0
        return [one["user"] for one in said.records]

    assert users() == ["root", "eve"]
    assert users("--decision", "deny") == ["eve"]
    assert users("--user", "root", "--request", "delete", "--resource", "Topic:a") == ["root"]
    assert users("--from", "2023-11-15") == []
    assert users("--from", "2023-11-14T00:00:00Z", "--to", "2023-11-16") == ["root", "eve"]
    assert users("--source", "10.0.0.1") == []


def test_a_folder_that_is_not_there_is_said() -> None:
    said = aerobee_here("audit", "tail", "--dir", "/nowhere/audit")
    assert said.status == 2
    assert "auditPath" in said.error


def test_events_that_come_are_followed(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, EVENT)
    terminal = OnTerminal("audit", "tail", "--dir", folder, "--follow")
    terminal.wait_for('"root"')
    folder_of(tmp_path, REFUSED)
    terminal.wait_for('"eve"')
    terminal.interrupt()
    status, _ = terminal.end()
    assert status == 0
