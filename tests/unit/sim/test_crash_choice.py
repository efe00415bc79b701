from aerobee.sim.crash_choice import CrashChoice, crash_choices, effective_writes
from aerobee.sim.names import Change, NameChange
from aerobee.sim.sector_file import SectorFile, SectorWrite


def _writes(*moments: int) -> list[SectorWrite]:
    return [SectorWrite(moment, moment, b"") for moment in moments]


def _changes(*moments: int) -> list[NameChange]:
    return [NameChange(moment, Change.UNLINK, f"s/{moment}") for moment in moments]


def _choices(
    writes: list[SectorWrite], folders: list[list[NameChange]], random_count: int = 0
) -> list[CrashChoice]:
    return list(crash_choices(writes, folders, random_count, seed=1))


def test_none_all_every_prefix_and_every_single_drop_of_the_writes_are_tried() -> None:
    kept = {choice.writes for choice in _choices(_writes(1, 2, 3, 4), [])}
    prefixes = [frozenset(range(1, end)) for end in range(1, 6)]
    drops = [frozenset({1, 2, 3, 4}) - {moment} for moment in (1, 2, 3, 4)]
    assert {*prefixes, *drops} <= kept


def test_every_prefix_of_every_folder_is_tried_with_the_others_whole_and_empty() -> None:
    tried = {choice.names for choice in _choices([], [_changes(1, 4), _changes(2, 3)])}
    for own, other in (((1, 4), (2, 3)), ((2, 3), (1, 4))):
        for count in range(3):
            assert frozenset(own[:count]) in tried
            assert frozenset(own[:count]) | frozenset(other) in tried
    assert frozenset({1, 2}) in tried  # and every prefix in time


def test_writes_and_names_are_cut_at_one_moment_as_well() -> None:
    choices = _choices(_writes(1, 3), [_changes(2, 4)])
    pairs = {(choice.writes, choice.names) for choice in choices}
    assert (frozenset({1}), frozenset({2})) in pairs
    assert (frozenset({1, 3}), frozenset({2})) in pairs


def test_random_subsets_repeat_with_their_seed() -> None:
    writes = _writes(*range(20))
    first = [choice.writes for choice in crash_choices(writes, [], 8, seed=3)]
    again = [choice.writes for choice in crash_choices(writes, [], 8, seed=3)]
    other = [choice.writes for choice in crash_choices(writes, [], 8, seed=4)]
    assert first == again
    assert first != other


def test_the_number_of_choices_grows_with_the_work_not_with_its_subsets() -> None:
    count = len(_choices(_writes(*range(100)), [_changes(*range(100, 110))], random_count=32))
    assert count <= 4 * 100 + 2 * 32 + 12 * 10 + 110 + 10


def test_only_the_newest_kept_version_of_a_sector_shows() -> None:
    file = SectorFile.create(1024, 0)
    file.sync()
    for value in (1, 2, 3):
        file.map()[0] = value
        file.observe(value)
    assert [write.moment for write in effective_writes(file, [1, 2])] == [2]
    assert [write.moment for write in effective_writes(file, [])] == []


def test_a_file_without_its_length_shows_nothing() -> None:
    file = SectorFile.create(1024, 0)
    file.map()[0] = 1
    file.observe(1)
    assert effective_writes(file, [1]) == []
    assert len(effective_writes(file, [0, 1])) == 2
