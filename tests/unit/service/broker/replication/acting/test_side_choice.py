from dataclasses import replace

from aerobee.model.broker_role import Stage
from aerobee.service.broker.cluster.registration import Registration
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.acting.acting_side import ActingSide
from aerobee.service.broker.replication.acting.side_choice import side_of
from aerobee.service.broker.replication.master_side import MasterSide
from aerobee.service.broker.replication.slave_requests import NotMaster, Returning
from aerobee.service.broker.replication.slave_side import SlaveSide
from aerobee.service.broker.state.tables import Ground
from tests.acting_kit import ACTING
from tests.store_kit import StoreKit
from tests.tables_kit import TablesKit


def test_role_and_stage_decide_the_side_and_who_may_append() -> None:
    master = BrokerIdentity()
    cases = (
        (master, MasterSide, type(None)),
        (replace(master, stage=Stage.RETURNING), MasterSide, Returning),
        (replace(ACTING, stage=Stage.USUAL), SlaveSide, NotMaster),
        (ACTING, ActingSide, NotMaster),
    )
    for identity, kind, refusal in cases:
        kit = StoreKit()
        tables = TablesKit()
        registration = Registration(identity, tables.config, tables.topics, [], [])
        ground = Ground(kit.store, kit.disk, kit.worker)
        side = side_of(identity, ground, registration, None, [], kit.clock.now())
        assert type(side) is kind
        assert type(kit.store.appender.refusal) is refusal
