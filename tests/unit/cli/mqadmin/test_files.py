import tempfile
from pathlib import Path

import pytest

from aerobee.cli.mqadmin.files import (
    credentials_in,
    export_folder,
    read_bytes,
    read_json_list,
    write_body,
    write_export,
    write_mapping,
    write_text,
)
from aerobee.errors import Misuse
from aerobee.model.access import Credentials


def test_the_objects_of_a_list_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"x":1},{"x":2}]')
    assert [row.int32("x") for row in read_json_list(str(tmp_path / "a.json"))] == [1, 2]


@pytest.mark.parametrize(
    ("text", "reason"), [("{}", "holds no list"), ("[]", "holds no list"), ("[1,", "bad.json")]
)
def test_what_is_no_list_is_said_to_be_none(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(Misuse, match=reason):
        read_json_list(str(tmp_path / "bad.json"))


def test_files_are_written_with_the_folders_that_they_need(tmp_path: Path) -> None:
    path = write_export(str(tmp_path / "deep" / "er"), "a.json", {"x": 1})
    assert path == f"{tmp_path}/deep/er/a.json"
    assert Path(path).read_text() == '{\n\t"x":1\n}'
    write_text(str(tmp_path / "1" / "client"), "state")
    assert (tmp_path / "1" / "client").read_text() == "state"
    body = Path(write_body("files-test", b"\x00body"))
    assert body.read_bytes() == b"\x00body"
    body.unlink()
    mapping = Path(write_mapping("files-test.after", b"{}"))
    assert mapping.parent == Path(tempfile.gettempdir())
    assert read_bytes(str(mapping)) == b"{}"
    mapping.unlink()
    with pytest.raises(Misuse, match="cannot be read"):
        read_bytes(str(mapping))
    assert export_folder("here") == "here"
    assert export_folder("") == str(Path(tempfile.gettempdir()) / "rocketmq" / "export")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misuse, match=r"file/a\.json cannot be written"):
        write_export(str(tmp_path / "file"), "a.json", {})


def credentials(home: Path, text: str | None) -> Credentials | None:
    (home / "conf").mkdir(exist_ok=True)
    if text is not None:
        (home / "conf" / "tools.yml").write_text(text)
    return credentials_in({"ROCKETMQ_HOME": str(home)})


def test_credentials_are_read_as_rocketmqs_tool_reads_them(tmp_path: Path) -> None:
    text = "# a comment\naccessKey: alice\nsecretKey: 'hidden'\n"
    assert credentials(tmp_path, text) == Credentials("alice", "hidden")


@pytest.mark.parametrize("text", [None, "", "accessKey: alice\n", "accessKey:\nsecretKey:\n"])
def test_without_both_credentials_nothing_is_signed(tmp_path: Path, text: str | None) -> None:
    assert credentials(tmp_path, text) is None
    assert credentials_in({}) is None


def test_a_file_of_credentials_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "conf" / "tools.yml").mkdir(parents=True)
    with pytest.raises(Misuse, match="cannot be read"):
        credentials_in({"ROCKETMQ_HOME": str(tmp_path)})
