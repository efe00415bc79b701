from aerobee.protocol.headers.producing_once import OpenedProducerHeader, OpenProducerHeader
from aerobee.protocol.remoting.declared_header import read_header, write_header


def test_an_opening_names_the_producer_and_perhaps_an_epoch() -> None:
    header = OpenProducerHeader("p", "Orders", 7)
    assert write_header(header) == {"producerId": "p", "topic": "Orders", "epoch": "7"}
    assert read_header(OpenProducerHeader, write_header(header)) == header
    assert read_header(OpenProducerHeader, {"producerId": "p", "topic": "T"}).epoch == -1


def test_its_answer_names_the_epoch() -> None:
    assert read_header(OpenedProducerHeader, {"epoch": "1794732382394"}).epoch == 1794732382394


def test_a_round_is_opened_with_a_plan_and_answered_with_the_one_that_holds() -> None:
    header = OpenProducerHeader("p", "Orders", -1, 5, "a plan")
    fields = write_header(header)
    assert fields == {
        "producerId": "p",
        "topic": "Orders",
        "epoch": "-1",
        "roundId": "5",
        "plan": "a plan",
    }
    assert read_header(OpenProducerHeader, fields) == header
    assert read_header(OpenedProducerHeader, {"epoch": "7"}).plan is None
