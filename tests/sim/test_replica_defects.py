"""The test of the tests of replication: every mistake that can be planted is noticed by a test.

For each mistake stands here the test that must notice it. A test that passes with its mistake
planted is no test; without it, they all run where they are.
"""

from collections.abc import Callable
from functools import partial

import pytest

from aerobee.storage.config import FlushMode
from tests.sim import test_log_copies as copies
from tests.sim.replica_defects import ReplicaDefect, planted
from tests.unit.net import test_dialer as dialer
from tests.unit.replication import test_in_sync as in_sync
from tests.unit.replication import test_incoming_records as incoming
from tests.unit.replication import test_primary as primary
from tests.unit.replication import test_replica as replica
from tests.unit.service.broker.replication import test_log_comparison as comparison
from tests.unit.service.broker.replication import test_master_side as master_side
from tests.unit.service.broker.replication import test_promotion as promotion
from tests.unit.service.broker.replication import test_role_handlers as roles
from tests.unit.service.broker.replication import test_slave_side as slave_side
from tests.unit.service.broker.replication.metadata import test_metadata_assembly as tables
from tests.unit.service.broker.replication.metadata import test_offset_hand_back as hand_back
from tests.unit.service.broker.state import test_consumer_offsets_file as offsets_file
from tests.unit.service.nameserver import test_route_table as routes
from tests.unit.storage import test_raw_appender as raw_appender
from tests.unit.storage.commit import test_confirmation as confirmation
from tests.unit.storage.recover import test_log_cut as log_cut

Check = Callable[[], object]
D = ReplicaDefect
NOTICED = (AssertionError, pytest.fail.Exception, ValueError)
"""`(one,) = found` is an assertion, too."""

BANK: dict[ReplicaDefect, Check] = {
    D.ACKNOWLEDGED_BEFORE_COPIED: (
        master_side.test_a_slave_that_says_nothing_makes_the_answer_late_and_nothing_readable
    ),
    D.SLAVE_COUNTED_TWICE: (
        copies.test_a_slave_that_comes_back_beside_its_dead_connection_is_one_copy
    ),
    D.SLAVE_FAR_BEHIND_COUNTED: (
        in_sync.test_a_slave_is_in_sync_while_it_has_reported_and_its_gap_is_small
    ),
    D.SILENT_SLAVE_COUNTED_FOR_EVER: (
        copies.test_a_connection_that_is_dead_on_one_side_only_is_found_by_silence
    ),
    D.UNSENT_BYTES_ACKNOWLEDGED: (
        in_sync.test_an_acknowledgement_of_bytes_that_were_not_sent_yet_is_refused
    ),
    D.ACKNOWLEDGEMENT_GOES_BACK: partial(
        primary.test_an_acknowledgement_that_cannot_be_true_closes_its_link_only,
        5,
        "acknowledges 5 after",
    ),
    D.COPIED_OFFSET_FALLS: in_sync.test_what_was_copied_once_stays_so_when_slaves_go,
    D.REFUSED_AFTER_APPEND: (
        master_side.test_without_enough_slaves_a_send_is_refused_before_anything_is_appended
    ),
    D.EMPTY_SLAVE_GETS_LAST_FILE: partial(
        primary.test_an_empty_slave_gets_everything_or_the_last_file, begins_at_last_file=False
    ),
    D.UNCONFIRMED_SHOWN: (
        master_side.test_a_slave_that_says_nothing_makes_the_answer_late_and_nothing_readable
    ),
    D.LASTING_AHEAD_OF_COPIES: partial(
        confirmation.test_nothing_is_confirmed_or_lasting_beyond_what_enough_copies_have,
        FlushMode.SYNC,
    ),
    D.ACKNOWLEDGED_BEFORE_APPEND: (replica.test_a_read_that_appends_nothing_whole_is_not_reported),
    D.ACKNOWLEDGED_BEFORE_FLUSH: (
        replica.test_with_a_synchronous_flush_only_what_is_on_the_disk_is_reported
    ),
    D.FIRST_REPORT_BEFORE_FLUSH: (
        replica.test_with_a_synchronous_flush_the_first_report_waits_for_the_disk
    ),
    D.APPENDED_AT_WRONG_OFFSET: (
        incoming.test_bytes_of_another_offset_are_refused_and_change_nothing
    ),
    D.RECORD_NOT_CHECKED: (
        raw_appender.test_what_comes_before_a_damaged_record_is_appended_and_it_is_not
    ),
    D.BUSY_STORE_LOSES_BYTES: partial(
        replica.test_a_busy_store_holds_up_the_reading_and_not_the_link, 333
    ),
    D.BUSY_STORE_ENDS_LINK: partial(
        replica.test_a_busy_store_holds_up_the_reading_and_not_the_link, 333
    ),
    D.DIVERGED_TAIL_NOT_CUT: slave_side.test_a_log_that_has_more_than_its_masters_asks_to_be_cut,
    D.CUT_INSIDE_RECORD: partial(
        comparison.test_a_log_that_differs_is_cut_behind_the_last_common_record,
        is_apache=False,
        common=17,
        theirs=5,
    ),
    D.CUT_ANYWHERE: partial(log_cut.test_a_log_cannot_be_cut_inside_a_record, 1),
    D.TAIL_THROWN_AWAY: partial(log_cut.test_the_tail_is_saved_as_it_was, 10),
    D.DIVERGED_TAIL_SHOWN: (
        slave_side.test_a_master_that_returns_shows_no_tail_of_its_own_before_the_logs_were_compared
    ),
    D.OLDER_TABLE_TAKEN: tables.test_tables_of_a_former_master_are_not_taken,
    D.COMMIT_AT_SLAVE_FORGOTTEN: partial(tables.test_commits_at_the_slave_reach_the_master, ()),
    D.MASTER_SET_BACK_BY_HAND_BACK: partial(
        hand_back.test_a_master_that_has_gone_on_is_not_set_back, "8"
    ),
    D.TABLES_AHEAD_OF_LOG: tables.test_a_snapshot_waits_until_the_log_that_it_speaks_of_is_there,
    D.TABLES_COPIED_LATE: (slave_side.test_a_slave_that_begins_to_follow_copies_the_tables_at_once),
    D.TABLES_COPIED_BEHIND_PROMOTION: (
        promotion.test_tables_of_the_old_master_do_not_come_behind_those_of_a_promotion
    ),
    D.OFFSETS_NOT_CUT_WITH_LOG: (
        offsets_file.test_of_a_log_that_was_cut_no_offset_in_the_file_is_behind_its_end
    ),
    D.DEAD_CONNECTION_KEPT: (
        dialer.test_a_connection_that_leaves_two_requests_unanswered_is_replaced
    ),
    D.PROMOTED_SLAVE_KEEPS_FOLLOWING: roles.test_a_slave_whose_master_is_gone_is_promoted,
    D.TERM_NOT_RAISED: promotion.test_a_promoted_slave_is_of_a_later_term_than_its_master,
    D.OLD_MASTER_ACCEPTED: routes.test_an_old_master_does_not_take_the_id_of_its_successor,
    D.TOPIC_WITHOUT_CONFIG_LOST: (
        promotion.test_a_topic_whose_messages_came_and_whose_config_did_not_is_there_after_a_promotion
    ),
}


def test_every_mistake_has_the_test_that_notices_it() -> None:
    assert BANK.keys() == set(ReplicaDefect)


@pytest.mark.parametrize("defect", ReplicaDefect, ids=lambda defect: defect.name.lower())
def test_a_mistake_of_replication_is_noticed(defect: ReplicaDefect) -> None:
    with planted(defect), pytest.raises(NOTICED):
        BANK[defect]()
