"""The admin client for callers without an event loop: the same sections and methods, which wait.

Each line names an asynchronous method; its arguments and result are documented there. Imports more
than 15 modules because it has every section.
"""

from aerobee.client.admin.access import AccessAdmin
from aerobee.client.admin.admin import Admin
from aerobee.client.admin.brokers import BrokerAdmin, TuningAdmin
from aerobee.client.admin.connections import ConnectionAdmin
from aerobee.client.admin.dead_letters import DeadLetterAdmin
from aerobee.client.admin.delayed import DelayedAdmin
from aerobee.client.admin.groups import GroupAdmin
from aerobee.client.admin.messages import MessageAdmin
from aerobee.client.admin.name_servers import NameServerAdmin
from aerobee.client.admin.offsets import OffsetAdmin
from aerobee.client.admin.queues import QueueAdmin
from aerobee.client.admin.raft_members import RaftMemberAdmin
from aerobee.client.admin.replicas import ReplicaAdmin
from aerobee.client.admin.static_topics import StaticTopicAdmin
from aerobee.client.admin.topics import TopicAdmin
from aerobee.client.admin.transactions import TransactionAdmin
from aerobee.client.connection.loop_portal import Portal
from aerobee.client.sync.facade import Facade, act, stream, verb


class SyncStaticTopicAdmin(Facade[StaticTopicAdmin]):
    mappings = verb(StaticTopicAdmin.mappings)
    create = verb(StaticTopicAdmin.create)
    move = verb(StaticTopicAdmin.move)
    plan_queues = verb(StaticTopicAdmin.plan_queues)
    plan_move = verb(StaticTopicAdmin.plan_move)
    apply = verb(StaticTopicAdmin.apply)


class SyncTopicAdmin(Facade[TopicAdmin]):
    def __init__(self, subject: TopicAdmin, portal: Portal) -> None:
        super().__init__(subject, portal)
        self.static = SyncStaticTopicAdmin(subject.static, portal)

    names = verb(TopicAdmin.names)
    system_names = verb(TopicAdmin.system_names)
    names_of_units = verb(TopicAdmin.names_of_units)
    static_names = verb(TopicAdmin.static_names)
    route = verb(TopicAdmin.route)
    exists = verb(TopicAdmin.exists)
    config = verb(TopicAdmin.config)
    configs = verb(TopicAdmin.configs)
    tables = verb(TopicAdmin.tables)
    create = verb(TopicAdmin.create)
    put = verb(TopicAdmin.put)
    put_many = verb(TopicAdmin.put_many)
    set_permission = verb(TopicAdmin.set_permission)
    delete = verb(TopicAdmin.delete)
    forget = verb(TopicAdmin.forget)
    stats = verb(TopicAdmin.stats)
    groups = verb(TopicAdmin.groups)
    order = verb(TopicAdmin.order)
    set_order = verb(TopicAdmin.set_order)


class SyncGroupAdmin(Facade[GroupAdmin]):
    names = verb(GroupAdmin.names)
    configs = verb(GroupAdmin.configs)
    tables = verb(GroupAdmin.tables)
    config = verb(GroupAdmin.config)
    put = verb(GroupAdmin.put)
    put_many = verb(GroupAdmin.put_many)
    delete = verb(GroupAdmin.delete)
    progress = verb(GroupAdmin.progress)
    progress_of_all = verb(GroupAdmin.progress_of_all)
    time_spans = verb(GroupAdmin.time_spans)
    topics = verb(GroupAdmin.topics)
    subscription = verb(GroupAdmin.subscription)
    may_read = verb(GroupAdmin.may_read)
    allow = verb(GroupAdmin.allow)
    set_request_mode = verb(GroupAdmin.set_request_mode)
    request_modes = verb(GroupAdmin.request_modes)


class SyncOffsetAdmin(Facade[OffsetAdmin]):
    bounds = verb(OffsetAdmin.bounds)
    at_time = verb(OffsetAdmin.at_time)
    earliest_ms = verb(OffsetAdmin.earliest_ms)
    committed = verb(OffsetAdmin.committed)
    commit = verb(OffsetAdmin.commit)
    all = verb(OffsetAdmin.all)
    reset = verb(OffsetAdmin.reset)
    reset_queue = verb(OffsetAdmin.reset_queue)
    skip = verb(OffsetAdmin.skip)
    clone = verb(OffsetAdmin.clone)
    correction = verb(OffsetAdmin.correction)


class SyncDelayedAdmin(Facade[DelayedAdmin]):
    levels = verb(DelayedAdmin.levels)
    of_level = stream(DelayedAdmin.of_level)
    timed = verb(DelayedAdmin.timed)
    recall = verb(DelayedAdmin.recall)


class SyncMessageAdmin(Facade[MessageAdmin]):
    def __init__(self, subject: MessageAdmin, portal: Portal) -> None:
        super().__init__(subject, portal)
        self.delayed = SyncDelayedAdmin(subject.delayed, portal)

    find = verb(MessageAdmin.find)
    by_offset_id = verb(MessageAdmin.by_offset_id)
    by_unique_id = verb(MessageAdmin.by_unique_id)
    by_key = verb(MessageAdmin.by_key)
    between = stream(MessageAdmin.between)
    tracks = verb(MessageAdmin.tracks)
    consume_directly = verb(MessageAdmin.consume_directly)


class SyncQueueAdmin(Facade[QueueAdmin]):
    at = verb(QueueAdmin.at)
    read = stream(QueueAdmin.read)
    units = verb(QueueAdmin.units)
    peek = verb(QueueAdmin.peek)
    waiting_pops = verb(QueueAdmin.waiting_pops)


class SyncDeadLetterAdmin(Facade[DeadLetterAdmin]):
    groups = verb(DeadLetterAdmin.groups)
    count = verb(DeadLetterAdmin.count)
    of = stream(DeadLetterAdmin.of)
    resend = verb(DeadLetterAdmin.resend)
    resend_all = verb(DeadLetterAdmin.resend_all)


class SyncConnectionAdmin(Facade[ConnectionAdmin]):
    consumers = verb(ConnectionAdmin.consumers)
    client_ids = verb(ConnectionAdmin.client_ids)
    producers = verb(ConnectionAdmin.producers)
    producers_of_all = verb(ConnectionAdmin.producers_of_all)
    running_info = verb(ConnectionAdmin.running_info)
    owners = verb(ConnectionAdmin.owners)
    positions = verb(ConnectionAdmin.positions)


class SyncTransactionAdmin(Facade[TransactionAdmin]):
    count = verb(TransactionAdmin.count)
    open = stream(TransactionAdmin.open)
    given_up = stream(TransactionAdmin.given_up)
    commit = verb(TransactionAdmin.commit)
    rollback = verb(TransactionAdmin.rollback)
    check_again = verb(TransactionAdmin.check_again)


class SyncBrokerAdmin(Facade[BrokerAdmin]):
    runtime = verb(BrokerAdmin.runtime)
    stats = verb(BrokerAdmin.stats)
    delay_offsets = verb(BrokerAdmin.delay_offsets)
    waiting_for_a_time = verb(BrokerAdmin.waiting_for_a_time)
    config = verb(BrokerAdmin.config)
    set_config = verb(BrokerAdmin.set_config)
    forbid_writes = verb(BrokerAdmin.forbid_writes)
    allow_writes = verb(BrokerAdmin.allow_writes)
    clean_unused_topics = verb(BrokerAdmin.clean_unused_topics)
    clean_expired_queues = verb(BrokerAdmin.clean_expired_queues)
    delete_expired_log = verb(BrokerAdmin.delete_expired_log)


class SyncRaftMemberAdmin(Facade[RaftMemberAdmin]):
    members = verb(RaftMemberAdmin.members)
    add = verb(RaftMemberAdmin.add)
    remove = verb(RaftMemberAdmin.remove)
    replace = verb(RaftMemberAdmin.replace)
    change = verb(RaftMemberAdmin.change)


class SyncReplicaAdmin(Facade[ReplicaAdmin]):
    def __init__(self, subject: ReplicaAdmin, portal: Portal) -> None:
        super().__init__(subject, portal)
        self.raft = SyncRaftMemberAdmin(subject.raft, portal)

    status = verb(ReplicaAdmin.status)
    groups = verb(ReplicaAdmin.groups)
    group = verb(ReplicaAdmin.group)
    member = verb(ReplicaAdmin.member)
    members = verb(ReplicaAdmin.members)
    ha_address = verb(ReplicaAdmin.ha_address)
    epochs = verb(ReplicaAdmin.epochs)
    controller = verb(ReplicaAdmin.controller)
    sync_state = verb(ReplicaAdmin.sync_state)
    change_role = verb(ReplicaAdmin.change_role)
    elect = verb(ReplicaAdmin.elect)
    reset_flush_offset = verb(ReplicaAdmin.reset_flush_offset)


class SyncNameServerAdmin(Facade[NameServerAdmin]):
    addresses = act(NameServerAdmin.addresses)
    answering = verb(NameServerAdmin.answering)
    newest_term = verb(NameServerAdmin.newest_term)
    config = verb(NameServerAdmin.config)
    set_config = verb(NameServerAdmin.set_config)
    value = verb(NameServerAdmin.value)
    values = verb(NameServerAdmin.values)
    put_value = verb(NameServerAdmin.put_value)
    delete_value = verb(NameServerAdmin.delete_value)


class SyncAccessAdmin(Facade[AccessAdmin]):
    create_user = verb(AccessAdmin.create_user)
    update_user = verb(AccessAdmin.update_user)
    delete_user = verb(AccessAdmin.delete_user)
    user = verb(AccessAdmin.user)
    users = verb(AccessAdmin.users)
    create_rights = verb(AccessAdmin.create_rights)
    update_rights = verb(AccessAdmin.update_rights)
    delete_rights = verb(AccessAdmin.delete_rights)
    rights = verb(AccessAdmin.rights)
    rights_of_all = verb(AccessAdmin.rights_of_all)


class SyncTuningAdmin(Facade[TuningAdmin]):
    cold_limits = verb(TuningAdmin.cold_limits)
    cold_state = verb(TuningAdmin.cold_state)
    light_state = verb(TuningAdmin.light_state)
    set_cold_limit = verb(TuningAdmin.set_cold_limit)
    remove_cold_limit = verb(TuningAdmin.remove_cold_limit)
    set_read_ahead = verb(TuningAdmin.set_read_ahead)
    switch_timer_engine = verb(TuningAdmin.switch_timer_engine)


class SyncAdmin(Facade[Admin]):
    cluster = verb(Admin.cluster)

    def __init__(self, subject: Admin, portal: Portal) -> None:
        super().__init__(subject, portal)
        self.topics = SyncTopicAdmin(subject.topics, portal)
        self.groups = SyncGroupAdmin(subject.groups, portal)
        self.offsets = SyncOffsetAdmin(subject.offsets, portal)
        self.queues = SyncQueueAdmin(subject.queues, portal)
        self.messages = SyncMessageAdmin(subject.messages, portal)
        self.dead_letters = SyncDeadLetterAdmin(subject.dead_letters, portal)
        self.connections = SyncConnectionAdmin(subject.connections, portal)
        self.transactions = SyncTransactionAdmin(subject.transactions, portal)
        self.brokers = SyncBrokerAdmin(subject.brokers, portal)
        self.replicas = SyncReplicaAdmin(subject.replicas, portal)
        self.name_servers = SyncNameServerAdmin(subject.name_servers, portal)
        self.access = SyncAccessAdmin(subject.access, portal)
        self.tuning = SyncTuningAdmin(subject.tuning, portal)
