"""Catalog of the sub-commands: name → the module here that has it.

Only the module of the given sub-command is imported, so that a start is quick.
"""

import importlib

from aerobee.cli.mqadmin.command import Command

FAMILIES = {
    "topics": "allocateMQ deleteTopic topicClusterList topicList topicRoute topicStatus "
    "updateOrderConf updateTopic updateTopicList updateTopicPerm statsAll updateStaticTopic "
    "remappingStaticTopic",
    "groups": "deleteSubGroup getConsumerConfig setConsumeMode updateSubGroup updateSubGroupList",
    "members": "consumerConnection producerConnection producer consumerProgress consumerStatus",
    "offsets": "cloneGroupOffset resetOffsetByTime skipAccumulatedMessage queryCq",
    "messages": "queryMsgById queryMsgByKey queryMsgByUniqueKey queryMsgByOffset",
    "reading": "printMsg printMsgByQueue consumeMessage queryMsgTraceById",
    "sending": "sendMessage checkMsgSendRT sendMsgStatus clusterRT",
    "brokers": "brokerConsumeStats brokerStatus cleanExpiredCQ cleanUnusedTopic "
    "deleteExpiredCommitLog getBrokerConfig updateBrokerConfig getColdDataFlowCtrInfo "
    "updateColdDataFlowCtrGroupConfig removeColdDataFlowCtrGroupConfig setCommitLogReadAheadMode "
    "switchTimerEngine getBrokerLiteInfo",
    "clusters": "clusterList haStatus resetMasterFlushOffset getBrokerEpoch getSyncStateSet "
    "getControllerMetaData electMaster",
    "name_servers": "addWritePerm wipeWritePerm deleteKvConfig updateKvConfig getNamesrvConfig "
    "updateNamesrvConfig",
    "exports": "exportConfigs exportMetadata exportMetrics",
    "access": "createUser updateUser deleteUser getUser listUser copyUser createAcl updateAcl "
    "deleteAcl getAcl listAcl copyAcl",
    "refused": "getControllerConfig updateControllerConfig cleanBrokerMetadata addBroker "
    "removeBroker checkRocksdbCqWriteProgress rocksDBConfigToJson exportMetadataInRocksDB "
    "exportPopRecord getParentTopicInfo getLiteTopicInfo "
    "getLiteClientInfo getLiteGroupInfo triggerLiteDispatch dumpCompactionLog startMonitoring",
}
_PLACES = {name.lower(): family for family, names in FAMILIES.items() for name in names.split()}


def names() -> list[str]:
    """Return all names, sorted."""
    return sorted((name for names in FAMILIES.values() for name in names.split()), key=str.lower)


def find(name: str) -> Command | None:
    """Find a sub-command by name, in upper or lower case."""
    family = _PLACES.get(name.lower())
    if family is None:
        return None
    return next(one for one in commands_of(family) if one.name.lower() == name.lower())


def commands_of(family: str) -> tuple[Command, ...]:
    module = importlib.import_module(f"aerobee.cli.mqadmin.{family}")
    found: tuple[Command, ...] = module.COMMANDS
    return found
