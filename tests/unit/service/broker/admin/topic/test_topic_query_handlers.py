import json
from typing import Any

from aerobee.model.topic import TopicConfig
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.captured import captured_at
from tests.tables_kit import AdminKit


def kit_with(*configs: TopicConfig) -> AdminKit:
    kit = AdminKit()
    kit.topics.put(configs, kit.clock.now(), kit.told.append)
    kit.finish()
    return kit


def table_of(answer: RemotingCommand) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bytes(answer.body))
    return found


def test_all_topics_are_answered_as_apache_does() -> None:
    apaches = table_of(captured_at("mqadmin-5.5.0-exportMetadata-of-topics.jsonl:4"))
    answer = kit_with(TopicConfig("Orders", 4, 4)).ask(21)
    ours = table_of(answer)
    assert list(ours) == list(apaches)
    assert ours["topicConfigTable"]["TBW102"] == apaches["topicConfigTable"]["TBW102"]
    assert list(ours["topicConfigTable"]) == sorted(ours["topicConfigTable"])
    assert answer.ext_fields == {"totalTopicNum": str(len(ours["topicConfigTable"]))}


def test_pages_of_topics_join_into_all_of_them() -> None:
    kit = kit_with(*(TopicConfig(f"T{number}") for number in range(30)))
    whole = table_of(kit.ask(21))
    joined: dict[str, Any] = {}
    version = ""
    while True:
        fields = {"topicSeq": str(len(joined)), "maxTopicNum": "7", "dataVersion": version}
        answer = kit.ask(21, fields)
        page = table_of(answer)
        if not page["topicConfigTable"]:
            break
        version = json.dumps(page["dataVersion"])
        joined |= page["topicConfigTable"]
        assert len(page["topicConfigTable"]) <= 7
        assert answer.ext_fields["totalTopicNum"] == str(len(whole["topicConfigTable"]))
    assert joined == whole["topicConfigTable"]


def test_a_table_that_changed_in_between_begins_again() -> None:
    kit = kit_with(*(TopicConfig(f"T{number}") for number in range(30)))
    first = table_of(kit.ask(21, {"topicSeq": "0", "maxTopicNum": "7", "dataVersion": ""}))
    version = json.dumps(first["dataVersion"])
    kit.topics.put([TopicConfig("More")], kit.clock.now(), kit.told.append)
    kit.finish()
    again = table_of(kit.ask(21, {"topicSeq": "7", "maxTopicNum": "7", "dataVersion": version}))
    assert next(iter(again["topicConfigTable"])) == next(iter(first["topicConfigTable"]))


def test_one_topic_is_answered_byte_for_byte_as_apache_does() -> None:
    apaches = captured_at("mqadmin-5.5.0-topicStatus-of-empty-topic.jsonl:9")
    kit = kit_with(TopicConfig("Held6af97907", 4, 4))
    answer = kit.ask(351, {"lo": "true", "topic": "Held6af97907"})
    assert (answer.code, answer.body) == (0, apaches.body)


def test_a_topic_that_is_not_there_is_said() -> None:
    kit = AdminKit()
    answer = kit.ask(351, {"lo": "true", "topic": "Never"})
    assert (answer.code, answer.remark) == (17, "No topic in this broker. topic: Never")


def test_the_systems_topics_are_those_that_apache_names() -> None:
    apaches = table_of(captured_at("mqadmin-5.5.0-exportMetadata-of-topics.jsonl:6"))
    ours = table_of(AdminKit().ask(305))
    assert sorted(ours["topicList"]) == sorted(apaches["topicList"])
