from aerobee.protocol.headers.sending import SendV2Header, SentHeader
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured


def test_what_producers_wrote_is_read_and_written_back_whole() -> None:
    commands = captured("SEND_MESSAGE_V2", "request") + captured("SEND_BATCH_MESSAGE", "request")
    for command in commands:
        header = read_header(SendV2Header, command.ext_fields)
        said = write_header(header)
        assert {name: said.get(name) for name in command.ext_fields if len(name) == 1} == {
            name: value for name, value in command.ext_fields.items() if len(name) == 1
        }


def test_what_brokers_answered_is_read() -> None:
    answers = [
        answer for answer in captured("SEND_MESSAGE_V2", "response") if "msgId" in answer.ext_fields
    ]
    assert answers
    for answer in answers:
        sent = read_header(SentHeader, answer.ext_fields)
        assert sent.message_ids == answer.ext_fields["msgId"]
        assert sent.queue_offset == int(answer.ext_fields["queueOffset"])
