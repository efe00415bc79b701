from aerobee.client.core.trace_reading import TraceStep, read_steps, steps_of
from aerobee.client.core.trace_records import SendTrace, TracedKind, bodies, sent_record


def record(*fields: object) -> bytes:
    return ("\x01".join(map(str, fields)) + "\x02").encode()


BEFORE = record("SubBefore", 2000, "R", "billing", "req-1", "ID1", 2, "k", "10.0.0.9")


def test_what_we_write_we_read() -> None:
    sent = SendTrace(
        1000, "R", "P", "orders", "ID1", "t", "k", "b:1", 9, 3, TracedKind.NORMAL, "OFF", True
    )
    (body,) = bodies([sent_record(sent)])
    assert read_steps(body.body) == [
        TraceStep("sent", "ID1", "P", 1000, 3, True, "b:1", "9 bytes to orders")
    ]


def test_old_producers_say_no_offset_id() -> None:
    body = record("Pub", 1000, "R", "P", "T", "ID1", "t", "k", "b:1", 9, 3, 0, "false")
    assert read_steps(body)[0].is_success is False


def test_consuming_has_two_records_and_one_request() -> None:
    after = record("SubAfter", "req-1", "ID1", 40, "true", "k", 0, 2050, "billing")
    received, consumed = steps_of("ID1", read_steps(after + BEFORE))
    assert (received.kind, received.note, received.place) == ("received", "attempt 3", "10.0.0.9")
    assert consumed == TraceStep(
        "consumed", "ID1", "billing", 2050, 40, True, "10.0.0.9", "", "req-1"
    )


def test_old_consumers_say_no_time_and_no_group_at_the_end() -> None:
    after = record("SubAfter", "req-1", "ID1", 40, "false", "k", 1)
    consumed = steps_of("ID1", read_steps(BEFORE + after))[1]
    assert (consumed.wall_ms, consumed.group, consumed.is_success) == (2040, "billing", False)


def test_a_transaction_ends() -> None:
    body = record(
        "EndTransaction", 3000, "R", "P", "T", "ID1", "", "", "b:1", 2, "tx", "COMMIT", "true"
    )
    (step,) = read_steps(body)
    assert (step.kind, step.note) == ("ended", "COMMIT after a check")


def test_other_messages_and_what_cannot_be_read_are_left_out() -> None:
    other = record("SubBefore", 2000, "R", "g", "req-2", "ID2", 0, "")
    damaged = record("Pub", "soon") + record("Sub") + b"\xff\x02" + record("SubAfter", "r")
    assert [step.message_id for step in steps_of("ID2", read_steps(damaged + other + BEFORE))] == [
        "ID2"
    ]
