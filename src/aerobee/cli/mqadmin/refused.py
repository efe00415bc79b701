"""Sub-commands that are not supported, each with the reason and an alternative.

They send no request: Aerobee's brokers do not have the feature.
"""

from aerobee.cli.mqadmin.command import Command

_NO_CONTROLLER = "no process is a controller: a Raft group elects its own leader"
_NO_CONTAINER = "a process runs one broker: there is no container to add it to or take it from"
_NO_ROCKSDB = "nothing is kept in RocksDB: queues and tables are plain files"
_NO_LIGHT = "there are no lite topics"
_START_BROKER = "start and stop brokers as processes: aerobee broker start"
_EXPORT = "mqadmin exportMetadata writes topics and groups as JSON"
_USE_TOPICS = (
    "send to one ordinary topic with a tag or a property for each receiver, and filter by it"
)

COMMANDS = tuple(
    Command(name, text, why_not=why_not, instead=instead)
    for name, text, why_not, instead in (
        (
            "getControllerConfig",
            "Get controller config.",
            _NO_CONTROLLER,
            "mqadmin getBrokerConfig -b ADDRESS shows a broker's",
        ),
        (
            "updateControllerConfig",
            "Update controller config.",
            _NO_CONTROLLER,
            "mqadmin updateBrokerConfig changes a broker's",
        ),
        (
            "cleanBrokerMetadata",
            "Clean metadata of broker on controller.",
            _NO_CONTROLLER,
            "name servers forget brokers that are gone by themselves; from a Raft group a member "
            "is taken by aerobee broker members remove",
        ),
        ("addBroker", "Add a broker to specified container.", _NO_CONTAINER, _START_BROKER),
        ("removeBroker", "Remove a broker from specified container.", _NO_CONTAINER, _START_BROKER),
        (
            "checkRocksdbCqWriteProgress",
            "check if rocksdb cq is same as file cq",
            _NO_ROCKSDB,
            "mqadmin queryCq shows the units of a queue",
        ),
        (
            "rocksDBConfigToJson",
            "Convert RocksDB kv config to json.",
            _NO_ROCKSDB,
            _EXPORT,
        ),
        (
            "exportMetadataInRocksDB",
            "export RocksDB kv config (topics/subscriptionGroups).",
            _NO_ROCKSDB,
            _EXPORT,
        ),
        ("exportPopRecord", "Export pop consumer record", _NO_ROCKSDB, _EXPORT),
        ("getParentTopicInfo", "Get parent topic info.", _NO_LIGHT, _USE_TOPICS),
        ("getLiteTopicInfo", "Get lite topic info.", _NO_LIGHT, _USE_TOPICS),
        ("getLiteClientInfo", "Get lite client info.", _NO_LIGHT, _USE_TOPICS),
        ("getLiteGroupInfo", "Get lite group info.", _NO_LIGHT, _USE_TOPICS),
        ("triggerLiteDispatch", "Trigger Lite Dispatch.", _NO_LIGHT, _USE_TOPICS),
        (
            "dumpCompactionLog",
            "Parse compaction log to message.",
            "topics that keep the newest of each key have no log of their own to be dumped",
            "mqadmin printMsg -t TOPIC prints what such a topic has",
        ),
        (
            "startMonitoring",
            "Start Monitoring.",
            "it would watch for ever and write to a log that nobody reads",
            "aerobee group list --watch 5, or the metrics that brokers serve for Prometheus",
        ),
    )
)
