"""Header fields of requests about masters and slaves: GET_BROKER_MEMBER_GROUP (901),
BROKER_HEARTBEAT (904), NOTIFY_MIN_BROKER_ID_CHANGE (905), EXCHANGE_BROKER_HA_INFO (906),
RESET_MASTER_FLUSH_OFFSET (908), and CHANGE_BROKER_ROLE (28008) and CHANGE_GROUP_MEMBERS (28011),
which are ours.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64

ASYNC_MASTER = "ASYNC_MASTER"
SYNC_MASTER = "SYNC_MASTER"
SLAVE = "SLAVE"
ROLES = (ASYNC_MASTER, SYNC_MASTER, SLAVE)
"""RocketMQ's values of brokerRole."""
ADD_MEMBER = "add"
PROMOTE_MEMBER = "promote"
REMOVE_MEMBER = "remove"
MEMBER_OPERATIONS = (ADD_MEMBER, PROMOTE_MEMBER, REMOVE_MEMBER)
"""What CHANGE_GROUP_MEMBERS may ask for."""


@dataclass(frozen=True, slots=True)
class MemberGroupHeader:
    cluster_name: str
    broker_name: str


@dataclass(frozen=True, slots=True)
class KnownTermHeader:
    """Header of the answer to GET_BROKER_MEMBER_GROUP."""

    term: Int64 | None = None
    """The newest that a broker of the name has registered with; None: not told, as by RocketMQ."""


@dataclass(frozen=True, slots=True)
class MinBrokerIdHeader:
    """Header of a name server's one-way message that the smallest broker id of a name has
    changed."""

    min_broker_id: Int64 | None = None
    broker_name: str | None = None
    """RocketMQ's name server never fills it."""
    min_broker_addr: str | None = None
    offline_broker_addr: str | None = None
    """Of the broker that had the smallest id and left; None: a smaller one came."""
    ha_broker_addr: str | None = None
    """Where the broker that came serves its log."""


@dataclass(frozen=True, slots=True)
class ExchangeHaHeader:
    """Header of EXCHANGE_BROKER_HA_INFO and of its answer. A request with `master_ha_address`
    comes from a master to its slave; one without fields asks a master for its own."""

    master_ha_address: str | None = None
    master_flush_offset: Int64 | None = None
    """The master's end of log when it started."""
    master_address: str | None = None


@dataclass(frozen=True, slots=True)
class ResetFlushOffsetHeader:
    master_flush_offset: Int64


@dataclass(frozen=True, slots=True)
class ChangeRoleHeader:
    """Header of CHANGE_BROKER_ROLE: the role that the broker is to have from now on."""

    role: str
    """One of ROLES."""
    broker_id: Int64
    """0 for a master, more for a slave."""
    master_address: str | None = None
    """For a slave: where clients reach the master that it is to follow. None: name servers tell."""
    master_ha_address: str | None = None
    """Where that master serves its log. None: it is asked, or name servers tell."""
    force: bool = False
    """The change is made although the broker sees a reason against it: its master still answers,
    or it holds less than it has heard of."""
    above_term: Int64 = 0
    """For a master: name servers have seen this term, and its own is to be later."""


@dataclass(frozen=True, slots=True)
class ChangedRoleHeader:
    """Header of the answer to CHANGE_BROKER_ROLE: the broker after the change."""

    role: str
    end_offset: Int64
    """The end of its log."""


@dataclass(frozen=True, slots=True)
class ElectMasterHeader:
    """Header of CONTROLLER_ELECT_MASTER: a broker that is to be the master."""

    broker_id: Int64 = -1
    """Its id; -1: any."""
    cluster_name: str | None = None
    broker_name: str | None = None
    designate_elect: bool = False
    """Only this one will do. So it is here in any case, if an id is given."""


@dataclass(frozen=True, slots=True)
class ElectedMasterHeader:
    """Header of the answer to CONTROLLER_ELECT_MASTER: the master that was chosen."""

    master_broker_id: Int64
    master_address: str
    master_epoch: Int64
    """The term in which it was chosen; it leads in a later one."""
    sync_state_set_epoch: Int64


@dataclass(frozen=True, slots=True)
class ChangeMembersHeader:
    """Header of CHANGE_GROUP_MEMBERS: one change of the members of a Raft group."""

    operation: str
    """One of MEMBER_OPERATIONS."""
    node: Int32
    """The number of the member: 3 of n3."""
    address: str | None = None
    """Of one that is added: where the others reach it."""
