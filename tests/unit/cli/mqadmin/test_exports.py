import json
from typing import Any

from tests.mqadmin_kit import Fails, Place, Works


def exported(place: Place, command: str, name: str) -> Any:
    path = f"{place.folder}/export/{name}"
    place.see(Works(f"{command} -f {{folder}}/export", (f"^export {path} success$",)))
    return json.loads((place.folder / "export" / name).read_text())


def test_settings_are_exported(place: Place) -> None:
    told = exported(place, "exportConfigs -c DefaultCluster", "configs.json")
    assert told["clusterScale"] == {"namesrvSize": 1, "masterBrokerSize": 1, "slaveBrokerSize": 0}
    assert told["brokerConfigs"]["broker-a"]["brokerRole"] == "ASYNC_MASTER"


def test_topics_and_groups_are_exported_without_the_systems(place: Place) -> None:
    place.see(Works("updateTopic -c DefaultCluster -t MqExport -r 3 -w 3", ("success",)))
    place.see(Works("updateTopic -c DefaultCluster -t %RETRY%MqExporters -r 1 -w 1", ("success",)))
    place.see(Works("updateSubGroup -c DefaultCluster -g MqExporters -r 5", ("success",)))
    told = exported(place, "exportMetadata -c DefaultCluster", "metadata.json")
    assert told["topicConfigTable"]["MqExport"]["readQueueNums"] == 3
    assert told["subscriptionGroupTable"]["MqExporters"]["retryMaxTimes"] == 5
    assert told["exportTime"] > 0
    assert "TBW102" not in told["topicConfigTable"]
    assert "%RETRY%MqExporters" not in told["topicConfigTable"]
    assert "TOOLS_CONSUMER" not in told["subscriptionGroupTable"]
    topics = exported(place, "exportMetadata -b {address} -t -s", "topic.json")
    assert {"MqExport", "%RETRY%MqExporters"} <= topics["topicConfigTable"].keys()
    groups = exported(place, "exportMetadata -b {address} -g", "subscriptionGroup.json")
    assert "MqExporters" in groups["subscriptionGroupTable"]


def test_figures_are_exported(place: Place) -> None:
    told = exported(place, "exportMetrics -c DefaultCluster", "metrics.json")
    report = told["evaluateReport"]["broker-a"]
    assert report["runtimeVersion"]["rocketmqVersion"] == "V5_5_0"
    assert set(report["runtimeQuota"]) == {
        "diskRatio", "tps", "oneDayNum", "messageAverageSize", "topicSize", "groupSize",
    }  # fmt: skip
    assert set(told["totalData"]["totalTps"]) == {
        "totalNormalInTps", "totalNormalOutTps", "totalTransInTps", "totalScheduleInTps",
    }  # fmt: skip
    assert set(told["totalData"]["totalOneDayNum"]) == {
        "normalOneDayInNum", "normalOneDayOutNum", "transOneDayInNum", "scheduleOneDayInNum",
    }  # fmt: skip


def test_what_cannot_be_exported_is_said(place: Place) -> None:
    (place.folder / "file").write_text("")
    for command in ("exportConfigs", "exportMetadata", "exportMetrics"):
        place.see_refused(Fails(f"{command} -c Nowhere", "no cluster 'Nowhere'", status=3))
        place.see_refused(
            Fails(f"{command} -c DefaultCluster -f {{folder}}/file", "cannot be written")
        )
    place.see_refused(Fails("exportMetadata", "--brokerAddr or --clusterName is needed"))
