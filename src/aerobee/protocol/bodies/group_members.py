"""The body of LIST_GROUP_MEMBERS, which is ours: the members of a Raft group.

    {"node":0,"group":"broker-a","term":3,"leader":0,"settled":true,"members":[
     {"node":0,"address":"10.0.0.1:40911","voter":true,"broker":"10.0.0.1:10911","lagBytes":0,
      "answering":true,"why":""}]}

`lagBytes` is -1 and `answering` is missing where the leader is not asked.
"""

from aerobee.model.replica_status import NO_NODE, UNKNOWN, GroupMember, GroupMembers
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_compact


def encode_group_members(told: GroupMembers) -> bytes:
    return write_compact(
        {
            "node": told.node,
            "group": told.group,
            "term": told.term,
            "leader": told.leader,
            "settled": told.is_settled,
            "members": [_row(one) for one in told.members],
        }
    )


def _row(one: GroupMember) -> dict[str, Value]:
    row: dict[str, Value] = {
        "node": one.node,
        "address": one.address,
        "voter": one.is_voter,
        "broker": one.broker,
        "lagBytes": one.lag_bytes,
        "why": one.why,
    }
    if one.is_answering is not None:
        row["answering"] = one.is_answering
    return row


def decode_group_members(body: bytes) -> GroupMembers:
    members = Members(parse(body), "the members of a group")
    rows = [Members(row, "a member of a group") for row in members.array("members")]
    return GroupMembers(
        members.int32("node", NO_NODE),
        members.text("group", ""),
        members.int64("term", 0),
        members.int32("leader", NO_NODE),
        members.is_true("settled"),
        [
            GroupMember(
                row.int32("node", NO_NODE),
                row.text("address", ""),
                row.is_true("voter"),
                row.text("broker", ""),
                row.int64("lagBytes", UNKNOWN),
                row.is_true("answering") if row.has("answering") else None,
                row.text("why", ""),
            )
            for row in rows
        ],
    )
