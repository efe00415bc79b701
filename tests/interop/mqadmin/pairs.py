"""Commands that are given to RocketMQ's mqadmin and to ours, one after the other, on one cluster.

In a command `{name}` is filled in. `{side}` is another word for each of the two, so that both can
make, change and delete the same things; in what they print it is the same again.
"""

from dataclasses import dataclass

TOPIC, GROUP, MAKER = "Orders", "Readers", "Makers"
FIRST_SIDE, SECOND_SIDE = "Alpha", "Bravo"


@dataclass(frozen=True, eq=False)
class Pair:
    command: str
    differs: str = ""
    """Where they differ on purpose: why."""
    drops: tuple[str, ...] = ()
    """Patterns that are left out of both, of what differs."""
    undo: str = ""
    """What takes the first's doing back before it is the second's turn."""
    is_moving: bool = False
    """Its numbers change from one moment to the next."""
    is_fixed_order: bool = False
    """Lines are compared in their order. Others come out of Java's hash maps, in any."""
    is_endless: bool = False
    files: tuple[str, ...] = ()
    """What it writes into the folder `{out}`, compared as well."""

    @property
    def name(self) -> str:
        return self.command.split()[0]


@dataclass(frozen=True, eq=False)
class BothFail:
    """What neither does: theirs prints a trace and ends well, ours says so and does not."""

    command: str
    says: str

    @property
    def name(self) -> str:
        return self.command.split()[0]


@dataclass(frozen=True, eq=False)
class Step:
    """Something that is done between commands: see `AdminRun.java`."""

    do: str
    fields: tuple[tuple[str, str], ...] = ()


_AT, _IN = "-b {address}", "-c DefaultCluster"
_WITHOUT_CHECKSUM = "the record checksum is not shown among the properties"
_CHECKSUM = (r"__CRC32#=\d+, |, __CRC32#=\d+",)
_FILES = (r"/\S+/Fixed\w+-\d+",)
_IN_ORDER = "queues are sorted, RocketMQ's are in no order"

BY_CONTROLLER = (
    "getControllerMetaData -a {address}",
    "getSyncStateSet -a {address} -b broker-a",
    "electMaster -a {address} -b 1 -bn broker-a -c DefaultCluster",
)
"""A broker alone is no controller; a Raft group is (`test_raft_group`)."""


def _controller(says: str) -> tuple[BothFail, ...]:
    return tuple(BothFail(command, says) for command in BY_CONTROLLER)


TOPICS: tuple[Pair | BothFail | Step, ...] = (
    Pair(f"updateTopic {_IN} -t New{{side}} -r 4 -w 4 -p 6", is_fixed_order=True),
    Pair(f"updateTopic {_AT} -t Typed{{side}} -r 2 -w 2 -a +message.type=NORMAL"),
    Pair(
        f"updateTopic {_AT} -t Ordered{{side}} -r 2 -w 2 -o true",
        differs="RocketMQ's prints a stack trace for an ordered topic without order configuration",
        drops=(r"^org\.apache\..*", "^For more information.*", r"^\tat .*"),
        is_fixed_order=True,
    ),
    Pair(f"updateTopicList {_AT} -f {{folder}}/topics{{side}}.json"),
    Pair(f"updateStaticTopic {_IN} -t Fixed{{side}} -qn 4", drops=_FILES, is_fixed_order=True),
    Pair(
        f"remappingStaticTopic {_IN} -t Fixed{{side}}",
        differs='the second line says "new", where RocketMQ\'s says "old" twice',
        drops=(*_FILES, "^The (old|new) "),
        is_fixed_order=True,
    ),
    Pair("topicList"),
    Pair("topicList -c"),
    Pair("topicRoute -t {topic}", is_fixed_order=True),
    Pair("topicRoute -t {topic} -l", is_fixed_order=True),
    Pair("topicClusterList -t {topic}"),
    Pair("allocateMQ -t {topic} -i 10.0.0.1", differs=_IN_ORDER, drops=(r'"queueId":\d+,',)),
    Pair("topicStatus -t {topic}", is_fixed_order=True),
    Pair(f"updateTopicPerm {_AT} -t Typed{{side}} -p 4", is_fixed_order=True),
    Pair(f"updateTopicPerm {_IN} -t Typed{{side}} -p 6"),
    Pair("updateOrderConf -m put -t New{side} -v broker-a:4"),
    Pair("updateOrderConf -m get -t New{side}"),
    Pair("updateOrderConf -m delete -t New{side}"),
    Pair(f"deleteTopic {_IN} -t Typed{{side}}", is_fixed_order=True),
    BothFail("topicRoute -t Typed{side}", "Typed"),
    BothFail("topicStatus -t Nowhere", "Nowhere"),
)

GROUPS: tuple[Pair | BothFail | Step, ...] = (
    Pair(f"updateSubGroup {_IN} -g Group{{side}} -r 3", is_fixed_order=True),
    Pair(f"updateSubGroup {_AT} -g Other{{side}} -q 2 -r 9 -d true"),
    Pair(f"updateSubGroupList {_AT} -f {{folder}}/groups{{side}}.json"),
    Pair("getConsumerConfig -g Other{side}", is_fixed_order=True),
    Pair(f"setConsumeMode {_AT} -t New{{side}} -g Other{{side}} -m POP -q 2", is_fixed_order=True),
    Pair(f"setConsumeMode {_IN} -t New{{side}} -g Other{{side}} -m PULL"),
    Pair(f"deleteSubGroup {_AT} -g Listed{{side}} -r true"),
    Pair(f"deleteSubGroup {_IN} -g Other{{side}} -r true"),
)

NAME_SERVER: tuple[Pair | BothFail | Step, ...] = (
    Pair("updateKvConfig -s Space -k key{side} -v value"),
    Pair("deleteKvConfig -s Space -k key{side}"),
    Pair("getNamesrvConfig"),
    Pair("updateNamesrvConfig -k orderMessageEnable -v false", is_fixed_order=True),
    Pair("wipeWritePerm -b broker-a", undo="addWritePerm -b broker-a"),
    Pair("addWritePerm -b broker-a"),
)

MESSAGES: tuple[Pair | BothFail | Step, ...] = (
    Pair("sendMessage -t {topic} -p more -k KeyM -c TagM -b broker-a -i 3", is_fixed_order=True),
    Pair("sendMsgStatus -b broker-a -c 3 -s 64", is_moving=True),
    Pair("checkMsgSendRT -t New{side} -a 3 -s 64", is_moving=True),
    Pair("queryMsgByKey -t {topic} -k KeyA", is_fixed_order=True),
    Pair("queryMsgByKey -t {topic} -k KeyB -b 0 -m 8", is_fixed_order=True),
    Pair(
        "queryMsgByUniqueKey -t {topic} -i {id}",
        differs=_WITHOUT_CHECKSUM,
        drops=_CHECKSUM,
        is_fixed_order=True,
    ),
    Pair(
        "queryMsgById -t {topic} -i {id}",
        differs=_WITHOUT_CHECKSUM,
        drops=_CHECKSUM,
        is_fixed_order=True,
    ),
    Pair("queryMsgById -t {topic} -i {offset_id} -f UTF-8", _WITHOUT_CHECKSUM, _CHECKSUM),
    Pair("queryMsgById -t {topic} -i {id} -s true", is_moving=True),
    Pair(
        "queryMsgByOffset -t {topic} -b broker-a -i 0 -o 0",
        differs=_WITHOUT_CHECKSUM,
        drops=_CHECKSUM,
        is_fixed_order=True,
    ),
    Pair("queryMsgTraceById -i {traced}", is_fixed_order=True),
    Pair("printMsg -t {topic} -s TagB", f"{_WITHOUT_CHECKSUM}; {_IN_ORDER}", _CHECKSUM),
    Pair(
        "printMsgByQueue -t {topic} -a broker-a -i 1 -d true -p true -f true",
        differs=_WITHOUT_CHECKSUM,
        drops=_CHECKSUM,
        is_fixed_order=True,
    ),
    Pair(
        "consumeMessage -t {topic} -b broker-a -i 1 -o 0 -c 1",
        differs=f"{_WITHOUT_CHECKSUM}; joins no group",
        drops=_CHECKSUM,
        is_fixed_order=True,
    ),
    Pair(f"queryCq {_AT} -t {{topic}} -q 1 -i 0 -c 1", is_fixed_order=True),
    BothFail("queryMsgById -t {topic} -i 00", "00"),
)

ONLINE: tuple[Pair | BothFail | Step, ...] = (
    Step("produce", (("group", MAKER), ("topic", TOPIC), ("key", "KeyD"), ("tag", "TagD"))),
    Step("consume", (("group", GROUP), ("topic", TOPIC))),
    Step("await", (("command", "consumerProgress -g Readers"), ("shows", "Diff Total: 0$"))),
    Pair("consumerConnection -g {group}"),
    Pair("consumerProgress -g {group}", is_fixed_order=True),
    Pair("consumerProgress -g {group} -t {topic} -s true", is_fixed_order=True),
    Pair("consumerProgress"),
    Pair(
        "consumerStatus -g {group}",
        is_fixed_order=True,
    ),
    Pair(
        "consumerStatus -g {group} -i {client}",
        differs="counters of Java consumers only are left out: transactions, locks",
        drops=(
            r"transactionMsg\w+=\d+, ",
            r"tryUnlockTimes=\d+, lastLockTimestamp=\d+, ",
            r", lastConsumeTimestamp=\d+",
        ),
        is_moving=True,
    ),
    Pair(f"producerConnection -g {MAKER} -t {{topic}}"),
    Pair(f"producer {_AT}", is_moving=True),
    Pair("queryMsgById -t {topic} -i {id} -g {group} -d {client}", is_moving=True),
    Pair("queryMsgByUniqueKey -t {topic} -i {id} -g {group} -d {client}", is_moving=True),
    Pair(f"queryCq {_AT} -t {{topic}} -q 1 -i 0 -c 1 -g {{group}}", is_fixed_order=True),
    Pair("resetOffsetByTime -g {group} -t {topic} -s -1"),
    Pair(f"brokerConsumeStats {_AT}"),
    Pair("statsAll -t {topic}", is_moving=True),
    Pair("statsAll -a", is_moving=True),
)

BROKERS: tuple[Pair | BothFail | Step, ...] = (
    Pair("clusterList", is_fixed_order=True),
    Pair("clusterList -m", is_moving=True),
    Pair(f"brokerStatus {_AT}", is_moving=True),
    Pair(f"brokerStatus {_IN}", is_moving=True),
    Pair(f"getBrokerConfig {_AT}"),
    Pair(f"getBrokerConfig {_IN}"),
    Pair(f"updateBrokerConfig {_AT} -k fileReservedTime -v 73"),
    Pair(f"exportConfigs {_IN} -f {{out}}", files=("configs.json",)),
    Pair(f"exportMetadata {_IN} -f {{out}}", files=("metadata.json",)),
    Pair(
        f"exportMetadata {_AT} -f {{out}} -t",
        differs="the file has the export time; RocketMQ's has the version of the table",
        drops=(r"/dataVersion.*", r"/exportTime.*"),
        files=("topic.json",),
    ),
    Pair(f"exportMetrics {_IN} -f {{out}}", files=("metrics.json",), is_moving=True),
    Pair(f"cleanExpiredCQ {_AT}"),
    Pair(f"cleanUnusedTopic {_AT}"),
    Pair(f"deleteExpiredCommitLog {_AT}"),
    Pair(f"haStatus {_AT}", is_fixed_order=True),
    Pair(f"resetMasterFlushOffset {_AT} -o 0"),
    BothFail(f"getBrokerEpoch {_IN}", "only for controllerMode"),
    *_controller("CONTROLLER_GET_METADATA_INFO"),
    Pair(f"getColdDataFlowCtrInfo {_AT}", is_fixed_order=True),
    Pair(f"getBrokerLiteInfo {_AT}", is_fixed_order=True, is_moving=True),
)

OFFLINE: tuple[Pair | BothFail | Step, ...] = (
    Step("leave"),
    Step("await", (("command", "consumerProgress"), ("shows", "^Readers +0 +OFFLINE"))),
    BothFail("consumerConnection -g {group}", "not online"),
    Pair("resetOffsetByTime -g {group} -t {topic} -s 0"),
    Pair(
        "cloneGroupOffset -s {group} -d Group{side} -t {topic}",
        differs="clones the named topic only; RocketMQ's clones all topics of the group",
    ),
    Pair("skipAccumulatedMessage -g {group} -t {topic} -f true"),
    Pair(f"resetOffsetByTime -g {{group}} -t {{topic}} {_AT} -q 1 -s -1 -o 1", is_fixed_order=True),
)

LAST = (Pair("clusterRT -a 2 -s 64 -i 1", is_moving=True, is_endless=True),)
"""Theirs cannot be ended, and prints into whatever comes after it."""

HERE = (*TOPICS, *GROUPS, *NAME_SERVER, *MESSAGES, *ONLINE, *BROKERS, *OFFLINE, *LAST)

_RULE = f"{_AT} -s User:ann{{side}} -r Topic:{{topic}}"
_HIDDEN = "passwords are masked"

AT_APACHE: tuple[Pair | BothFail | Step, ...] = (
    *TOPICS,
    *GROUPS,
    *NAME_SERVER,
    *MESSAGES,
    Step("produce", (("group", MAKER), ("topic", TOPIC), ("key", "KeyD"), ("tag", "TagD"))),
    Step("consume", (("group", GROUP), ("topic", TOPIC))),
    Step("await", (("command", "consumerProgress -g Readers"), ("shows", "Diff Total: 0$"))),
    Pair("consumerConnection -g {group}"),
    Pair("consumerProgress -g {group} -t {topic} -s true", is_fixed_order=True),
    Pair("clusterList", is_fixed_order=True, is_moving=True),
    Pair(f"getBrokerConfig {_AT}"),
    Pair(f"haStatus {_AT}", is_fixed_order=True),
    Pair(f"resetMasterFlushOffset {_AT} -o 0"),
    BothFail(f"getBrokerEpoch {_IN}", "only for controllerMode"),
    *_controller("request type 1005 not supported"),
    Pair(f"createUser {_AT} -u ann{{side}} -p secret12 -t Normal"),
    Pair(f"updateUser {_AT} -u ann{{side}} -s disable"),
    Pair(f"getUser {_AT} -u ann{{side}}", _HIDDEN, (r"secret12|\*{6}  ",)),
    Pair(f"listUser {_AT} -f ann{{side}}", _HIDDEN, (r"secret12|\*{6}  ",)),
    Pair("copyUser -f {address} -t {address} -u ann{side}"),
    Pair(f"createAcl {_RULE} -a Pub,Sub -d Allow"),
    Pair(f"updateAcl {_RULE} -a Pub -d Deny"),
    Pair(f"getAcl {_AT} -s User:ann{{side}}"),
    Pair(f"listAcl {_AT} -s User:ann{{side}}"),
    Pair("copyAcl -f {address} -t {address} -s User:ann{side}"),
    Pair(f"deleteAcl {_AT} -s User:ann{{side}}"),
    Pair(f"deleteUser {_AT} -u ann{{side}}"),
    Pair(f"getColdDataFlowCtrInfo {_AT}", is_fixed_order=True),
    Pair(f"updateColdDataFlowCtrGroupConfig {_AT} -g Group{{side}} -v 1048576"),
    Pair(f"removeColdDataFlowCtrGroupConfig {_AT} -g Group{{side}}"),
    Pair(f"setCommitLogReadAheadMode {_AT} -m 0", is_fixed_order=True),
    Pair(f"switchTimerEngine {_AT} -e F"),
    Pair(f"getBrokerLiteInfo {_AT}", is_fixed_order=True, is_moving=True),
)
"""What works at RocketMQ's brokers only, and enough of the rest."""
