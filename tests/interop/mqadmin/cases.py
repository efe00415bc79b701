"""Every sub-command of mqadmin 5.5.0, tried in the order of a broker's day.

A case says what is typed and what must be seen then. Of what our broker refuses it says the reason
that must be given instead; Apache's must still show what the case says, so that we know that it
asks the right thing.

In a command `{name}` is filled in: addresses, names, what an earlier command has shown.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

TOPIC, SPARE, LISTED = "Orders", "Spare", "Listed"
GROUP, OTHER_GROUP, LISTED_GROUP = "Readers", "Others", "ListedReaders"
MAKER = "Makers"
BROKER, CLUSTER = "broker-a", "DefaultCluster"

NAMES: Mapping[str, str] = {
    "topic": TOPIC,
    "spare": SPARE,
    "group": GROUP,
    "other": OTHER_GROUP,
    "broker": BROKER,
    "cluster": CLUSTER,
}


class Kind(Enum):
    """What our broker is to do."""

    WORKS = "works"
    REFUSES = "refuses"
    CONTROLLER = "needs a controller"
    ELSEWHERE = "asks no broker"


@dataclass(frozen=True, eq=False)
class Case:
    """Each is one of its own, whatever another says."""

    command: str
    shows: tuple[str, ...]
    """Patterns, each of which must be in what is printed."""
    saves: Mapping[str, str] = field(default_factory=dict)
    """What later cases need: a pattern whose group is kept under a name."""
    kind: Kind = Kind.WORKS
    reason: str = ""
    """A pattern: why our broker refuses."""
    apache_reason: str = ""
    """A pattern: why Apache's broker refuses it as well."""
    is_endless: bool = False
    may_say_error: bool = False
    """It prints the word in its usual course."""
    is_patient: bool = False
    """What it is to show may take a while to come about: it is tried again."""

    @property
    def name(self) -> str:
        return self.command.split()[0]

    def filled(self, words: Mapping[str, str]) -> "Case":
        """With these for `{name}`, in what is typed and in what must be seen."""
        return replace(
            self,
            command=_fill(self.command, words),
            shows=tuple(_fill(pattern, words, in_pattern=True) for pattern in self.shows),
        )

    def at_apache(self) -> "Case":
        """Apache refuses less."""
        return replace(self, reason=self.apache_reason)


@dataclass(frozen=True)
class Step:
    """Something that is done between commands: see `AdminRun.java`."""

    do: str
    fields: Mapping[str, str] = field(default_factory=dict)


def _fill(text: str, words: Mapping[str, str], *, in_pattern: bool = False) -> str:
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", re.escape(word) if in_pattern else word)
    return text


def _said(reason: str) -> str:
    """A pattern: all of what a broker says that has these words in it."""
    return rf"(?<=DESC: )[^\n]*{reason}[^\n]*"


def _refused(command: str, reason: str, *shows: str) -> Case:
    return Case(command, shows, kind=Kind.REFUSES, reason=_said(reason))


def _elsewhere(command: str, *shows: str) -> Case:
    return Case(command, shows, kind=Kind.ELSEWHERE, may_say_error=True)


_N, _B = "-n {nameserver}", "-n {nameserver} -b {address}"
_ROW = r"{broker}\s+".replace("{broker}", BROKER)
_NO_USERS = "authentication is not enabled"
_ERROR = rf"\[{BROKER}\] error\.|{BROKER}\s+error"
_NO_LIMITS = "no limits per group"
_NO_ROCKSDB = "keeps nothing in RocksDB"
_NOT_SERVED = _said(r"(not supported|does not serve)")

TOPICS: tuple[Case | Step, ...] = (
    Case(
        f"updateTopic {_N} -c {{cluster}} -t {{topic}} -r 4 -w 4 -p 6",
        (r"create topic to 127.0.0.1:\d+ success", "readQueueNums=4", "writeQueueNums=4", "RW-"),
        is_patient=True,  # the broker may not be known yet
    ),
    Case(
        f"updateTopic {_B} -t {{spare}} -r 2 -w 2 -a +message.type=NORMAL",
        ("create topic to .* success", "readQueueNums=2", r"message\.type=NORMAL"),
    ),
    Case(f"updateTopicList {_B} -f {{folder}}/topics.json", ("success",)),
    Case(f"topicList {_N}", (f"^{TOPIC}$", f"^{SPARE}$", f"^{LISTED}$"), is_patient=True),
    Case(f"topicList {_N} -c", (rf"{CLUSTER}\s+{TOPIC}\b",)),
    Case(f"topicRoute {_N} -t {{topic}}", (f'"brokerName":"{BROKER}"', '"readQueueNums":4')),
    Case(
        f"topicRoute {_N} -t {{topic}} -l", (rf"{BROKER}\s+\{{0=127\.0\.0\.1:\d+\}}\s+4\s+4\s+6\b",)
    ),
    Case(f"topicClusterList {_N} -t {{topic}}", (f"^{CLUSTER}$",)),
    Case(f"allocateMQ {_N} -t {{topic}} -i 10.0.0.1,10.0.0.2", (r"10\.0\.0\.1", r"10\.0\.0\.2")),
    Case(f"updateTopicPerm {_B} -t {{spare}} -p 4", (r"from 6 to 4 in .* success",)),
    Case(f"updateTopicPerm {_N} -c {{cluster}} -t {{spare}} -p 6", (r"from 4 to 6 in .* success",)),
    Case(f"updateOrderConf {_N} -m put -t {{topic}} -v {BROKER}:4", ("success",)),
    Case(f"updateOrderConf {_N} -m get -t {{topic}}", (f"{BROKER}:4",)),
    Case(f"updateOrderConf {_N} -m delete -t {{topic}}", ("success",)),
)

GROUPS: tuple[Case | Step, ...] = (
    Case(f"updateSubGroup {_N} -c {{cluster}} -g {{group}} -r 3", ("success", GROUP)),
    Case(f"updateSubGroup {_B} -g {{other}} -q 2 -r 9 -d true", ("success", OTHER_GROUP)),
    Case(f"updateSubGroupList {_B} -f {{folder}}/groups.json", ("success",)),
    Case(f"getConsumerConfig {_N} -g {{other}}", (OTHER_GROUP, r"retryMaxTimes\s*=\s*9")),
    Case(f"setConsumeMode {_B} -t {{spare}} -g {{other}} -m POP -q 2", ("success",)),
    Case(f"setConsumeMode {_N} -c {{cluster}} -t {{spare}} -g {{other}} -m PULL", ("success",)),
)

NAME_SERVER: tuple[Case | Step, ...] = (
    Case(f"updateKvConfig {_N} -s Space -k key -v value", ("success",)),
    Case(f"deleteKvConfig {_N} -s Space -k key", ("success",)),
    Case(f"getNamesrvConfig {_N}", (r"orderMessageEnable\s*=\s*false", "listenPort")),
    Case(f"updateNamesrvConfig {_N} -k orderMessageEnable -v false", ("success",)),
    Case(
        f"wipeWritePerm {_N} -b {{broker}}",
        (r"wipe write perm of broker\[broker-a\] .* OK, [1-9]",),
    ),
    Case(
        f"addWritePerm {_N} -b {{broker}}", (r"add write perm of broker\[broker-a\] .* OK, [1-9]",)
    ),
)

MESSAGES: tuple[Case | Step, ...] = (
    Case(
        f"sendMessage {_N} -t {{topic}} -p 'first body' -k KeyA -c TagA -b {{broker}} -i 0",
        (rf"{_ROW}0\s+SEND_OK\s+[0-9A-F]{{32}}",),
        {"id": r"SEND_OK\s+([0-9A-F]+)"},
    ),
    Case(
        f"sendMessage {_N} -t {{topic}} -p 'second body' -k KeyB -c TagB -b {{broker}} -i 1",
        (rf"{_ROW}1\s+SEND_OK",),
    ),
    Case(
        f"sendMessage {_N} -t {{topic}} -p traced -k KeyC -c TagB -b {{broker}} -i 2 -m true",
        (rf"{_ROW}2\s+SEND_OK",),
        {"traced": r"SEND_OK\s+([0-9A-F]+)"},
    ),
    Case(f"sendMsgStatus {_N} -b {{broker}} -c 3 -s 64", (r"rt=\d+ms.*SEND_OK",)),
    Case(f"checkMsgSendRT {_N} -t {{topic}} -a 3 -s 64", (r"true", r"Avg RT: \d")),
    Case(
        f"topicStatus {_N} -t {{topic}}",
        (rf"{_ROW}0\s+0\s+[1-9]", rf"{_ROW}3\s+0\s+\d", "Topic Put TPS: "),
    ),
    Case(
        f"queryMsgByKey {_N} -t {{topic}} -k KeyA",
        (r"{id}\s+0\s+\d+",),
        {"key_offset": r"\b0\s+(\d+)\s*$"},
    ),
    Case(
        f"queryMsgByUniqueKey {_N} -t {{topic}} -i {{id}}",
        (r"Topic:\s+Orders", r"Tags:\s+\[TagA\]", r"Queue ID:\s+0", "UNIQ_KEY={id}"),
    ),
    Case(
        f"queryMsgById {_N} -t {{topic}} -i {{id}}",
        (r"OffsetID:\s+[0-9A-F]{32}", r"Keys:\s+\[KeyA\]"),
        {"offset_id": r"OffsetID:\s+([0-9A-F]{32})"},
    ),
    Case(f"queryMsgById {_N} -t {{topic}} -i {{offset_id}}", ("KeyA", r"Queue ID:\s+0")),
    Case(f"queryMsgById {_N} -t {{topic}} -i {{id}} -s true", ("SEND_OK|SendResult",)),
    Case(
        f"queryMsgByOffset {_N} -t {{topic}} -b {{broker}} -i 0 -o 0",
        (r"OffsetID:\s+{offset_id}", r"Queue Offset:\s+0"),
    ),
    Case(f"queryMsgTraceById {_N} -i {{traced}} -t RMQ_SYS_TRACE_TOPIC", ("Pub", "success")),
    Case(f"printMsg {_N} -t {{topic}} -d true -s TagB", ("second body",)),
    Case(
        f"printMsgByQueue {_N} -t {{topic}} -a {{broker}} -i 1 -d true -p true -f true",
        ("second body",),
    ),
    Case(
        f"consumeMessage {_N} -t {{topic}} -b {{broker}} -i 1 -o 0 -c 1 -g {{other}}",
        ("second body",),
    ),
    Case(
        f"queryCq {_B} -t {{topic}} -q 1 -i 0 -c 1",
        (r"max: \d+, min: 0", r"physicOffset=\d+", r"tagsCode=\d+"),
    ),
)

ONLINE: tuple[Case | Step, ...] = (
    Step("produce", {"group": MAKER, "topic": TOPIC, "key": "KeyD", "tag": "TagD"}),
    Step("consume", {"group": GROUP, "topic": TOPIC}),
    Case(
        f"consumerConnection {_N} -g {{group}}",
        (r"{client}\s+127\.0\.0\.1:\d+\s+JAVA", rf"^{TOPIC}\s+\*"),
        is_patient=True,
    ),
    Case(
        f"consumerProgress {_N} -g {{group}}",
        (rf"{TOPIC}\s+{BROKER}\s+0\s+\d+\s+\d+", "Consume Diff Total: 0$", "Consume TPS: "),
        is_patient=True,
    ),
    Case(f"consumerProgress {_N} -g {{group}} -t {{topic}} -s true", (r"127\.0\.0\.1", TOPIC)),
    Case(f"consumerProgress {_N}", (rf"^{GROUP}\s+1\s",)),
    Case(f"consumerStatus {_N} -g {{group}}", (r"{client}", "V5_5_0"), is_patient=True),
    Case(
        f"consumerStatus {_N} -g {{group}} -i {{client}} -s",
        ("#Consumer Properties#", "PROP_CLIENT_VERSION", "#Consumer jstack#"),
        may_say_error=True,
    ),
    Case(f"producerConnection {_N} -g {MAKER} -t {{topic}}", (rf"127\.0\.0\.1@{MAKER}\b.*JAVA",)),
    Case(f"producer {_B}", (rf"{MAKER}\b", rf"127\.0\.0\.1@{MAKER}")),
    Case(
        f"queryMsgById {_N} -t {{topic}} -i {{id}} -g {{group}} -d {{client}}",
        ("CR_SUCCESS",),
    ),
    Case(
        f"queryMsgByUniqueKey {_N} -t {{topic}} -i {{id}} -g {{group}} -d {{client}}",
        ("CR_SUCCESS",),
    ),
    Case(f"queryMsgByUniqueKey {_N} -t {{topic}} -i {{id}} -a", ("UNIQ_KEY={id}",)),
    Case(
        f"queryCq {_B} -t {{topic}} -q 1 -i 0 -c 1 -g {{group}}",
        ("Subscription data", r"physicOffset=\d+"),
    ),
    Case(
        f"resetOffsetByTime {_N} -g {{group}} -t {{topic}} -s 0",
        (rf"^{BROKER}\s+0\s+0\s*$", rf"^{BROKER}\s+3\s+0\s*$"),
    ),
    Case(
        f"consumerProgress {_N} -g {{group}} -t {{topic}}",
        ("Consume Diff Total: 0$",),
        is_patient=True,
    ),
    Case(f"brokerConsumeStats {_B}", (rf"{TOPIC}\s+{GROUP}\s+{BROKER}\s+0", "Diff Total: 0")),
    Case(f"statsAll {_N} -t {{topic}}", (rf"^{TOPIC}\s+{GROUP}\s+0\s",)),
    Step("produce", {"group": MAKER, "topic": TOPIC, "key": "KeyE", "tag": "TagE"}),
    Case(f"statsAll {_N} -a", (rf"^{TOPIC}\s",), is_patient=True),
)

BROKERS: tuple[Case | Step, ...] = (
    Case(
        f"clusterList {_N}",
        (rf"{CLUSTER}\s+{BROKER}\s+0\s+127\.0\.0\.1:\d+\s+V5_5_0", r"\(0,0ms"),
    ),
    Case(f"clusterList {_N} -m", (rf"{CLUSTER}\s+{BROKER}(\s+\d+){{3}}\s+[1-9]",), is_patient=True),
    Case(
        f"brokerStatus {_B}",
        (
            r"^brokerVersionDesc\s*: V5_5_0",
            r"^msgPutTotalTodayNow\s*: [1-9]",
            r"^commitLogMaxOffset\s*: [1-9]",
            r"^putMessageAverageSize\s*: [1-9]",
            r"^commitLogDirCapacity\s*: Total : [\d.]+ \w+, Free : ",
        ),
    ),
    Case(f"brokerStatus {_N} -c {{cluster}}", (r"^127\.0\.0\.1:\d+ .*brokerVersionDesc",)),
    Case(f"getBrokerConfig {_B}", (r"^brokerName\s*=\s*broker-a", r"^fileReservedTime\s*=\s*72")),
    Case(f"getBrokerConfig {_N} -c {{cluster}}", (r"^brokerPermission\s*=\s*6",)),
    Case(f"updateBrokerConfig {_B} -k fileReservedTime -v 73", (r"update broker config success",)),
    Case(f"getBrokerConfig {_B}", (r"^fileReservedTime\s*=\s*73",), is_patient=True),
    Case(f"exportConfigs {_N} -c {{cluster}} -f {{folder}}/export", ("success",)),
    Case(f"exportMetadata {_B} -f {{folder}}/export -t", ("success",)),
    Case(f"exportMetadata {_N} -c {{cluster}} -f {{folder}}/export", ("success",)),
    Case(f"exportMetrics {_N} -c {{cluster}} -f {{folder}}/export", ("success",)),
    Case(f"cleanExpiredCQ {_B}", ("success",)),
    Case(f"cleanUnusedTopic {_B}", ("success",)),
    Case(f"deleteExpiredCommitLog {_B}", ("success",)),
    Case(f"topicStatus {_N} -t {{topic}}", (rf"{_ROW}0\s+0\s+[1-9]",)),
    Case(f"haStatus {_B}", (r"^#MasterCommitLogMaxOffset\s+[1-9]", r"^#SlaveNum\s+0$")),
)

OFFLINE: tuple[Case | Step, ...] = (
    Step("leave"),
    Case(
        f"consumerConnection {_N} -g {{group}}",
        ("not online",),
        may_say_error=True,
        is_patient=True,
    ),
    Case(
        f"resetOffsetByTime {_N} -g {{group}} -t {{topic}} -s 0",
        (rf"^{BROKER}\s+0\s+0\s*$",),
    ),
    Case(f"consumerProgress {_N} -g {{group}}", (r"Consume Diff Total: [1-9]",), is_patient=True),
    Case(
        f"cloneGroupOffset {_N} -s {{group}} -d {{other}} -t {{topic}}",
        ("clone group offset success", OTHER_GROUP),
    ),
    Case(f"skipAccumulatedMessage {_N} -g {{group}} -t {{topic}} -f true", (rf"^{BROKER}\s+0",)),
    Case(f"consumerProgress {_N} -g {{group}}", ("Consume Diff Total: 0$",), is_patient=True),
    Case(
        f"resetOffsetByTime {_N} -g {{group}} -t {{topic}} -b {{address}} -q 1 -s -1 -o 1",
        ("reset consumer offset to 1",),
    ),
)

ABSENT: tuple[Case | Step, ...] = (
    Case(f"getColdDataFlowCtrInfo {_B}", ('"runtimeTable"', '"configTable"')),
    _refused(f"updateColdDataFlowCtrGroupConfig {_B} -g {{group}} -v 1048576", _NO_LIMITS, "succ"),
    _refused(f"removeColdDataFlowCtrGroupConfig {_B} -g {{group}}", _NO_LIMITS, "succ"),
    _refused(f"setCommitLogReadAheadMode {_B} -m 0", "there is no mode to set", "success"),
    Case(f"getBrokerLiteInfo {_B}", ("LMQ", "default")),
    *(
        # The reason is sent, and these commands keep it to themselves.
        Case(command, (), kind=Kind.REFUSES, reason=_ERROR, apache_reason=_ERROR)
        for command in (
            f"getParentTopicInfo {_N} -p {{topic}}",
            f"getLiteTopicInfo {_N} -p {{topic}} -l light",
            f"getLiteGroupInfo {_N} -p {{topic}} -g {{group}}",
            f"getLiteClientInfo {_N} -p {{topic}} -g {{group}} -c {{client}}",
            f"triggerLiteDispatch {_N} -p {{topic}} -g {{group}}",
        )
    ),
    Case(
        f"updateStaticTopic {_N} -c {{cluster}} -t Static -qn 4",
        ("The new mapping data is written to file",),
    ),
    Case(
        f"remappingStaticTopic {_N} -c {{cluster}} -t Static",
        ("mapping data is written to file",),
    ),
    _refused(f"createUser {_B} -u held -p secret12 -t Normal", _NO_USERS, "success"),
    _refused(f"updateUser {_B} -u held -s disable", _NO_USERS, "success"),
    _refused(f"getUser {_B} -u held", _NO_USERS, "held"),
    _refused(f"listUser {_B}", _NO_USERS, "held"),
    _refused(f"copyUser {_N} -f {{address}} -t {{address}} -u held", _NO_USERS, "success"),
    _refused(
        f"createAcl {_B} -s User:held -r Topic:{{topic}} -a Pub,Sub -d Allow", _NO_USERS, "success"
    ),
    _refused(
        f"updateAcl {_B} -s User:held -r Topic:{{topic}} -a Pub -d Deny", _NO_USERS, "success"
    ),
    _refused(f"getAcl {_B} -s User:held", _NO_USERS, "User:held"),
    _refused(f"listAcl {_B}", _NO_USERS, "User:held"),
    _refused(f"copyAcl {_N} -f {{address}} -t {{address}} -s User:held", _NO_USERS, "success"),
    _refused(f"deleteAcl {_B} -s User:held", _NO_USERS, "success"),
    _refused(f"deleteUser {_B} -u held", _NO_USERS, "success"),
    _refused(f"switchTimerEngine {_B} -e F", "one engine, the wheel", "success"),
)

END: tuple[Case | Step, ...] = (
    Case(f"deleteSubGroup {_B} -g {LISTED_GROUP} -r true", ("success",)),
    Case(f"deleteSubGroup {_N} -c {{cluster}} -g {{other}} -r true", ("success",)),
    Case(f"deleteTopic {_N} -c {{cluster}} -t {{spare}}", (r"delete topic \[Spare\].*success",)),
    Case(f"topicRoute {_N} -t {{spare}}", ("CODE: 17",), may_say_error=True),
    Case(
        f"clusterRT {_N} -a 2 -s 64 -i 1 -p false",
        (rf"^{CLUSTER}\s+{BROKER}\s+\d+\.\d+\s+[1-9]",),
        is_endless=True,
    ),
    Case(f"startMonitoring {_N}", (), is_endless=True),
)

REPLICATION: tuple[Case | Step, ...] = (
    Case(f"resetMasterFlushOffset {_B} -o 0", ("success",)),
    *(
        Case(command, (), kind=Kind.CONTROLLER, reason=_NOT_SERVED, apache_reason=_NOT_SERVED)
        for command in (
            "getControllerMetaData -a {nameserver}",
            "getControllerConfig -a {nameserver}",
            "updateControllerConfig -a {nameserver} -k key -v value",
            f"getSyncStateSet {_N} -a {{nameserver}} -b {{broker}}",
            "electMaster -a {nameserver} -b 1 -bn {broker} -c {cluster}",
            "cleanBrokerMetadata -a {nameserver} -bn {broker} -c {cluster}",
        )
    ),
    Case(
        f"getBrokerEpoch {_N} -b {{broker}}",
        (),
        kind=Kind.CONTROLLER,
        reason=_said("only for controllerMode"),
        apache_reason=_said("only for controllerMode"),
    ),
)

OTHERS: tuple[Case | Step, ...] = (
    *(
        Case(command, (), kind=Kind.REFUSES, reason=_NOT_SERVED, apache_reason=_NOT_SERVED)
        for command in (
            f"addBroker {_N} -c {{address}} -b {{folder}}/none.conf",
            f"removeBroker {_N} -c {{address}} -b {{cluster}}:{{broker}}:1",
        )
    ),
    _refused(f"checkRocksdbCqWriteProgress {_N} -c {{cluster}}", _NO_ROCKSDB, "check"),
    _refused(
        f"rocksDBConfigToJson {_N} -c {{cluster}} -t topics", _NO_ROCKSDB, "broker export done"
    ),
    _refused(f"exportPopRecord {_B}", _NO_ROCKSDB, "Export broker records"),
    _elsewhere("exportMetadataInRocksDB -p {folder}/none -t topics", "path is invalid"),
    _elsewhere("dumpCompactionLog -f {folder}/none", "not exist"),
)

CASES: tuple[Case | Step, ...] = (
    *TOPICS,
    *GROUPS,
    *NAME_SERVER,
    *MESSAGES,
    *ONLINE,
    *BROKERS,
    *OFFLINE,
    *ABSENT,
    *REPLICATION,
    *OTHERS,
    *END,
)
