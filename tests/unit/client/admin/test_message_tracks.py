from aerobee.client.admin.admin import Admin
from aerobee.client.admin.message_tracks import Track
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.admin_kit import join, put, with_admin

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))
OTHER = MessageQueue("orders", "broker-b", QueueId(0))


def test_what_groups_have_made_of_a_message_is_told() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        await put(cluster.client, QUEUE, b"x", TAGS="paid")
        message = await admin.queues.at(QUEUE, 0)
        assert isinstance(message, StoredMessage)
        await admin.offsets.commit("gone", QUEUE, 0)
        await admin.offsets.commit("done", QUEUE, 1)
        await join(cluster.client, "waiting", "orders")
        await join(cluster.client, "filtered", "orders", "created")
        await admin.offsets.commit("filtered", QUEUE, 1)
        assert await admin.messages.tracks(message) == {
            "gone": Track.OFFLINE,
            "done": Track.CONSUMED,
            "waiting": Track.WAITING,
            "filtered": Track.FILTERED,
        }

    with_admin(test)
