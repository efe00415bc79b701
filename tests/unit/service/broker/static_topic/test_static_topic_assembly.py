from aerobee.ports.clock import Now
from aerobee.ports.service import Effects
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.static_topic.logical_rows import SENDS, TRANSLATIONS
from aerobee.service.broker.static_topic.static_topic_assembly import StaticTopicAssembly
from aerobee.service.topic_routes import TopicRoutes
from tests.rows_rig import RowsRig, by_code
from tests.tables_kit import IDENTITY, at_once


def test_every_row_stays_those_about_queues_are_translated_and_one_is_new() -> None:
    rig = RowsRig()
    outbox: Effects = []
    room = StaticTopicAssembly(IDENTITY, rig.inside[1].topics, TopicRoutes([], outbox), outbox)
    rows = [*rig.consumer, *rig.admin]
    found = room.rows(rows, at_once)
    new = {int(RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC)}
    assert by_code(found) == by_code(rows) | new
    handles = {one.code: one.handle for one in found}
    changed = {one.code for one in rows if handles[one.code] != one.handle}
    assert changed == {one.code for one in rows} & {*TRANSLATIONS, *SENDS}
    room.on_answer("another's", None, Now(0, 0))
    assert outbox == []
