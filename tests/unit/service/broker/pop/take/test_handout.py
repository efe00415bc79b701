from dataclasses import replace

from aerobee.errors import StoreBusy
from aerobee.model.message import StoredMessage
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.stored_message import fill_draft
from tests.delay_kit import message
from tests.pop_kit import INVISIBLE_MS, PopKit


def put(kit: PopKit, one: StoredMessage) -> None:
    draft = MessageDraft()
    fill_draft(draft, one)
    kit.store.append(draft, kit.clock.now().wall_ms)
    kit.finish()


def test_without_a_checkpoint_nothing_is_handed_out() -> None:
    kit = PopKit(queues=2)
    kit.fill(1, 0)
    kit.fill(1, 1, first=1)
    kit.store.appender.refusal = StoreBusy("the disk is behind")
    kit.tell(200050, kit.fields())
    (answer,) = kit.heard()
    assert (answer.code, bytes(answer.body)) == (2, b"")
    kit.finish()
    assert sorted(kit.bodies_popped()) == [b"m0", b"m1"]


def test_distances_of_a_filtered_run_have_gaps() -> None:
    kit = PopKit()
    for number, tag in enumerate("ABA"):
        kit.fill(1, first=number, TAGS=tag)
    answer = kit.ask(200050, kit.fields(exp="A"))
    assert answer.ext_fields["msgOffsetInfo"] == "0 0 0,2"


def test_a_message_without_room_for_its_receipt_is_handed_out_without_it() -> None:
    kit = PopKit()
    put(kit, replace(message(b"big"), properties={"p": "x" * 32_690}))
    kit.pop()
    kit.run(INVISIBLE_MS + 1_000)
    answer = kit.ask(200050, kit.fields())
    assert (answer.code, answer.ext_fields["msgOffsetInfo"]) == (0, "1 0 0")
    assert b"POP_CK" not in bytes(answer.body)
