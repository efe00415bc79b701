from pathlib import Path

from aerobee.app.process.store_reset import FOLDER, set_log_aside


def test_the_log_goes_and_the_vote_and_the_tables_stay(tmp_path: Path) -> None:
    for name in ("commitlog", "consumequeue", "config"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    for name in ("raft_state", "durable_mark"):
        (tmp_path / name).write_text(name)
    set_log_aside(str(tmp_path))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["config", "raft_state", FOLDER]
    aside = tmp_path / FOLDER
    assert (aside / "commitlog" / "file").read_text() == "commitlog"
    assert (aside / "durable_mark").exists()


def test_what_was_set_aside_before_is_replaced(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "old").write_text("old")
    (tmp_path / "commitlog").mkdir()
    set_log_aside(str(tmp_path))
    assert [one.name for one in (tmp_path / FOLDER).iterdir()] == ["commitlog"]
