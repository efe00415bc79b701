import inspect

from aerobee import errors
from aerobee.errors import (
    AerobeeError,
    CorruptFile,
    CorruptRecord,
    Misuse,
    RemoteAnswer,
    Retriable,
    StorageError,
)


def tree_as_drawn() -> dict[str, str]:
    """Class → its parent, as the docstring of the module draws them."""
    assert errors.__doc__ is not None
    drawn = {}
    path: list[tuple[int, str]] = []
    for line in errors.__doc__.splitlines():
        if not line.startswith("    "):
            continue
        name = line.lstrip(" │├└─").split()[0]
        depth = line.index(name)
        path = [step for step in path if step[0] < depth]
        drawn[name] = path[-1][1] if path else "Exception"
        path.append((depth, name))
    return drawn


def test_the_tree_of_errors_is_the_one_that_is_drawn() -> None:
    written = {
        name: value.__bases__[0].__name__
        for name, value in vars(errors).items()
        if inspect.isclass(value)
        and issubclass(value, BaseException)
        and value.__module__ == errors.__name__
    }
    assert tree_as_drawn() == written


def test_every_error_says_what_it_means() -> None:
    for name, value in vars(errors).items():
        if inspect.isclass(value) and issubclass(value, AerobeeError):
            assert value.__doc__, name
            assert value.__doc__ != value.__bases__[0].__doc__, name


def test_a_hint_is_shown_after_the_message_and_kept_apart_from_it() -> None:
    error = Misuse("the store is closed", hint="open it again")
    assert str(error) == "the store is closed (open it again)"
    assert (error.message, error.hint) == ("the store is closed", "open it again")
    assert str(Misuse("the store is closed")) == "the store is closed"


def test_damage_names_the_file_the_byte_and_the_log_offset() -> None:
    error = CorruptRecord(
        "bad checksum", path="commitlog/00000000000000001024", position=96, log_offset=1120
    )
    assert str(error) == (
        "bad checksum in commitlog/00000000000000001024 at byte 96 (log offset 1120)"
    )
    assert (error.reason, error.path, error.position, error.log_offset) == (
        "bad checksum",
        "commitlog/00000000000000001024",
        96,
        1120,
    )
    assert isinstance(error, StorageError)


def test_a_file_that_cannot_be_believed_is_named() -> None:
    error = CorruptFile("wrong size", path="commitlog/00000000000000000000", hint="restore it")
    assert str(error) == "wrong size: commitlog/00000000000000000000 (restore it)"
    assert (error.reason, error.path) == ("wrong size", "commitlog/00000000000000000000")


def test_a_remote_answer_keeps_its_code() -> None:
    error = Retriable("system busy", code=2)
    assert error.code == 2
    assert isinstance(error, RemoteAnswer)


def test_what_was_partly_done_names_who_failed_and_why() -> None:
    error = errors.PartlyDone(done={"a": 1}, failed={"b": errors.Misuse("no room")})
    assert error.message == "1 of 2 failed: b: no room"
    assert (error.done, list(error.failed)) == ({"a": 1}, ["b"])
