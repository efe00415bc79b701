"""`NameServerAdmin` reads and changes name servers: their settings and their key-value store.

Name servers tell each other nothing: a change is sent to all of them, results are by address.
"""

from collections.abc import Mapping

from aerobee.client.admin.brokers import settings_in
from aerobee.client.admin.fan_out import FanOut
from aerobee.errors import AerobeeError, PartlyDone
from aerobee.model.route import MASTER_ID
from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.small_tables import decode_text_table
from aerobee.protocol.bodies.topic_config import decode_data_version, encode_data_version
from aerobee.protocol.headers.registration import BrokerPlaceHeader
from aerobee.protocol.headers.replication import KnownTermHeader, MemberGroupHeader
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.java_properties import write_properties


class NameServerAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out

    def addresses(self) -> tuple[str, ...]:
        """The name servers that this client knows; none is asked."""
        return self._fan_out.name_server_addresses()

    async def answering(self) -> dict[str, str | None]:
        """By address, the error of a request to it; None: it answers."""
        found: dict[str, str | None] = {}
        for address in self._fan_out.name_server_addresses():
            try:
                await self._fan_out.broker(address, RequestCode.GET_BROKER_CLUSTER_INFO)
            except AerobeeError as error:
                found[address] = error.message
            else:
                found[address] = None
        return found

    async def newest_term(self, cluster: str, name: str, master: str | None) -> int:
        """The newest term of a master of this broker name that any name server tells of; 0: none
        does. RocketMQ's tell that of a registered master, whose address is `master`.
        """
        group = write_header(MemberGroupHeader(cluster, name))
        answers = await self._told(RequestCode.GET_BROKER_MEMBER_GROUP, group)
        told = [read_header(KnownTermHeader, one.ext_fields).term for one in answers]
        terms = [one for one in told if one is not None]
        if master is not None and len(terms) < len(told):
            place = write_header(BrokerPlaceHeader(name, master, cluster, MASTER_ID))
            body = encode_data_version(DataVersion())
            answers = await self._told(RequestCode.QUERY_DATA_VERSION, place, body)
            versions = [decode_data_version(bytes(one.body)) for one in answers if one.body]
            terms += [one.state_version for one in versions]
        return max(terms, default=0)

    async def _told(
        self, code: RequestCode, fields: Mapping[str, str], body: bytes = b""
    ) -> list[RemotingCommand]:
        """The answers of those that answer."""
        try:
            return list((await self._fan_out.name_servers(code, fields, body)).values())
        except PartlyDone as partly:
            return [one for one in partly.done.values() if isinstance(one, RemotingCommand)]
        except AerobeeError:
            return []

    async def config(self) -> dict[str, dict[str, str]]:
        """Settings under RocketMQ's names, by address."""
        answers = await self._fan_out.name_servers(RequestCode.GET_NAMESRV_CONFIG)
        return {address: settings_in(bytes(one.body)) for address, one in answers.items()}

    async def set_config(self, settings: Mapping[str, str]) -> list[str]:
        """Change settings of running name servers; each takes all of them or none."""
        body = write_properties(settings).encode()
        return list(await self._fan_out.name_servers(RequestCode.UPDATE_NAMESRV_CONFIG, body=body))

    async def value(self, namespace: str, key: str) -> str | None:
        fields = {"namespace": namespace, "key": key}
        answer = await self._fan_out.name_server(RequestCode.GET_KV_CONFIG, fields)
        if answer.code == ResponseCode.QUERY_NOT_FOUND:
            return None
        return answer.ext_fields.get("value", "")

    async def values(self, namespace: str) -> dict[str, str]:
        """All keys and values of a namespace."""
        fields = {"namespace": namespace}
        answer = await self._fan_out.name_server(RequestCode.GET_KVLIST_BY_NAMESPACE, fields)
        if answer.code == ResponseCode.QUERY_NOT_FOUND:
            return {}
        return decode_text_table(bytes(answer.body))

    async def put_value(self, namespace: str, key: str, value: str) -> list[str]:
        fields = {"namespace": namespace, "key": key, "value": value}
        return list(await self._fan_out.name_servers(RequestCode.PUT_KV_CONFIG, fields))

    async def delete_value(self, namespace: str, key: str) -> list[str]:
        fields = {"namespace": namespace, "key": key}
        return list(await self._fan_out.name_servers(RequestCode.DELETE_KV_CONFIG, fields))
