import pytest

from aerobee.sim.names import NameSpace
from aerobee.sim.sector_file import SectorFile


def _file() -> SectorFile:
    return SectorFile.create(512, 0)


def _after(space: NameSpace, *kept: int) -> list[str]:
    return sorted(space.after_cut(kept)[0])


def test_a_name_is_durable_once_its_own_folder_is_synced() -> None:
    space = NameSpace()
    space.make_folder("s/a")
    space.make_folder("s/b")
    space.link("s/a/x", _file(), 1)
    space.link("s/b/y", _file(), 2)
    assert _after(space) == []
    space.sync_folder("s/a")
    assert _after(space) == ["s/a/x"]
    space.sync_folder("s/b/")
    assert _after(space) == ["s/a/x", "s/b/y"]


def test_a_folder_is_durable_as_soon_as_it_is_made() -> None:
    space = NameSpace()
    space.make_folder("s/a/b")
    assert space.after_cut(())[1] == {"s", "s/a", "s/a/b"}


def test_a_folder_keeps_a_prefix_of_its_changes() -> None:
    space = NameSpace()
    space.make_folder("s")
    for moment, name in enumerate("xyz"):
        space.link(f"s/{name}", _file(), moment)
    assert _after(space, 0, 1) == ["s/x", "s/y"]
    assert _after(space, 0, 2) == ["s/x"]
    assert _after(space, 1, 2) == []


def test_a_removed_name_may_come_back_until_the_folder_is_synced() -> None:
    space = NameSpace()
    space.make_folder("s")
    old = _file()
    space.link("s/x", old, 1)
    space.sync_folder("s")
    space.unlink("s/x", 2)
    new = _file()
    space.link("s/x", new, 3)
    assert space.names["s/x"] is new
    assert space.after_cut(())[0]["s/x"] is old
    assert _after(space, 2) == []
    assert space.after_cut((2, 3))[0]["s/x"] is new
    assert {id(file) for file in space.files()} == {id(old), id(new)}


def test_a_rename_inside_a_folder_is_one_change() -> None:
    space = NameSpace()
    space.make_folder("s")
    space.link("s/x", _file(), 1)
    space.link("s/y", _file(), 2)
    space.sync_folder("s")
    space.rename("s/x", "s/y", 3)
    assert sorted(space.names) == ["s/y"]
    assert _after(space) == ["s/x", "s/y"]
    assert _after(space, 3) == ["s/y"]


def test_a_rename_across_folders_never_loses_the_file() -> None:
    space = NameSpace()
    space.make_folder("s/a")
    space.make_folder("s/b")
    space.link("s/a/x", _file(), 1)
    space.sync_folder("s/a")
    space.rename("s/a/x", "s/b/y", 2)
    assert sorted(space.names) == ["s/b/y"]
    assert _after(space) == ["s/a/x"]
    assert _after(space, 3) == ["s/a/x"]
    assert _after(space, 2) == ["s/a/x", "s/b/y"]
    assert _after(space, 2, 3) == ["s/b/y"]
    space.sync_folder("s/a")  # the new name goes with the loss of the old one
    assert _after(space) == ["s/b/y"]


def test_syncing_only_the_target_of_a_rename_leaves_both_names() -> None:
    space = NameSpace()
    space.make_folder("s/a")
    space.make_folder("s/b")
    space.link("s/a/x", _file(), 1)
    space.sync_folder("s/a")
    space.rename("s/a/x", "s/b/y", 2)
    space.sync_folder("s/b")
    assert _after(space) == ["s/a/x", "s/b/y"]
    assert _after(space, 3) == ["s/b/y"]


def test_a_removed_folder_takes_its_names_along_if_its_end_survives() -> None:
    space = NameSpace()
    space.make_folder("s/a")
    space.link("s/a/x", _file(), 1)
    space.sync_folder("s/a")
    space.unlink("s/a/x", 2)
    space.remove_folder("s/a", 3)
    assert space.folders == {"s"}
    assert _after(space) == ["s/a/x"]
    names, folders = space.after_cut((3,))
    assert (names, folders) == ({}, {"s"})
    space.make_folder("s/a")  # durable, so what the parent had pending is durable as well
    assert _after(space) == []
    assert space.pending() == []


def test_a_folder_that_is_not_empty_stays() -> None:
    space = NameSpace()
    space.make_folder("s")
    space.link("s/x", _file(), 1)
    with pytest.raises(OSError, match="not empty"):
        space.remove_folder("s", 2)


def test_the_top_needs_no_making() -> None:
    space = NameSpace()
    space.link("x", _file(), 1)
    assert space.children(".") == space.children("") == ["x"]
    space.sync_folder(".")
    assert _after(space) == ["x"]


def test_a_copy_has_the_twins_and_its_own_pending_changes() -> None:
    space = NameSpace()
    space.make_folder("s")
    file = _file()
    space.link("s/x", file, 1)
    twin_file = file.copy()
    twin = space.copy(lambda original: twin_file)
    twin.sync_folder("s")
    assert twin.names["s/x"] is twin.after_cut(())[0]["s/x"] is twin_file
    assert _after(space) == []


def test_a_folder_made_without_a_sync_waits_for_one_and_what_is_in_it_with_it() -> None:
    space = NameSpace()
    space.make_folder("s")
    assert space.make_folder_unsynced("s/a/b", 1) == 3
    assert space.make_folder_unsynced("s/a/b", 3) == 3
    space.link("s/a/b/x", _file(), 3)
    assert space.children("s/a") == ["b"]
    space.sync_folder("s/a/b")
    assert _after(space) == []
    space.sync_folder("s/a")
    assert _after(space) == []
    assert space.after_cut(())[1] == {"s"}
    space.sync_folder("s")
    assert _after(space) == ["s/a/b/x"]
    assert space.after_cut(())[1] == {"s", "s/a", "s/a/b"}


def test_a_folder_is_not_made_over_a_file() -> None:
    space = NameSpace()
    space.link("x", _file(), 1)
    with pytest.raises(FileExistsError):
        space.make_folder_unsynced("x", 2)


def test_a_sync_of_everything_leaves_nothing_pending() -> None:
    space = NameSpace()
    space.make_folder_unsynced("s/a", 1)
    space.link("s/a/x", _file(), 3)
    space.rename("s/a/x", "s/y", 4)
    space.sync_all()
    assert _after(space) == ["s/y"]
    assert space.pending() == []


def test_what_is_synced_in_a_folder_made_again_outlives_the_end_of_the_former_one() -> None:
    space = NameSpace()
    space.make_folder("s/a/b")
    space.link("s/a/b/old", _file(), 1)
    space.sync_folder("s/a/b")
    space.unlink("s/a/b/old", 2)
    space.remove_folder("s/a/b", 3)
    space.remove_folder("s/a", 4)
    space.make_folder_unsynced("s/a/b", 5)
    space.link("s/a/b/new", _file(), 7)
    space.sync_folder("s/a/b")
    assert _after(space) == []
    space.sync_folder("s/a")
    space.sync_folder("s")
    assert _after(space) == ["s/a/b/new"]
    space.unlink("s/a/b/new", 8)
    space.sync_folder("s/a/b")
    assert _after(space) == []
