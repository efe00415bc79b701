from aerobee.app.migration.copy_progress import CopyProgress, Look


def progress(*looks: tuple[float, int, int]) -> CopyProgress:
    found = CopyProgress()
    for look in looks:
        found.note(Look(*look))
    return found


def test_the_time_left_counts_what_the_master_gets_meanwhile() -> None:
    # 100 a second are copied, and 50 are new: 300 are missing, and 50 a second are gained.
    found = progress((0.0, 0, 400), (2.0, 200, 500))
    assert found.bytes_per_second == 100
    assert found.seconds_left == 6.0


def test_a_copy_that_falls_behind_has_no_end() -> None:
    found = progress((0.0, 0, 100), (1.0, 10, 200))
    assert found.seconds_left is None
    assert "no end in sight" in found.line(1)


def test_a_copy_that_has_everything_has_no_time_left() -> None:
    assert progress((0.0, 5, 5)).seconds_left == 0.0
    assert progress((0.0, 0, 0)).line(0).startswith("copied 0 bytes of 0 bytes (100%), 0 messages")


def test_the_rate_is_that_of_the_last_seconds() -> None:
    found = progress((0.0, 0, 9_000), (100.0, 1_000, 9_000), (105.0, 2_000, 9_000))
    assert found.bytes_per_second == 200


def test_a_line_has_bytes_messages_rate_and_time() -> None:
    found = progress((0.0, 0, 4 << 20), (1.0, 1 << 20, 4 << 20))
    assert found.line(17) == "copied 1 MiB of 4 MiB (25%), 17 messages, 1 MiB/s, 3 s left"
