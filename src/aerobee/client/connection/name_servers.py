"""The name servers of a client: any of them will do, and the one that answered last is asked first.

One that does not answer is left for the next at once; only when all have failed is the asker told,
with what each of them came to.
"""

from aerobee.client.connection.connections import Connections
from aerobee.errors import NoAnswer, TopicNotFound, Unreachable
from aerobee.model.route import ClusterInfo, TopicRoute
from aerobee.protocol.bodies.topic_route import decode_cluster_info, decode_topic_route
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode, error_for

_NOBODY_HINT = "is one running there? `aerobee up` starts one on localhost:9876"


class NameServers:
    def __init__(
        self, connections: Connections, addresses: tuple[str, ...], timeout: float
    ) -> None:
        self._connections = connections
        self._addresses = list(addresses)
        self._timeout = timeout

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self._addresses)

    async def ask(self, command: RemotingCommand) -> tuple[RemotingCommand, str]:
        """The answer of the first that gives one, whatever its code, and who gave it."""
        failures: list[NoAnswer] = []
        for address in list(self._addresses):
            try:
                answer = await self._connections.ask(address, command, self._timeout)
            except NoAnswer as error:
                failures.append(error)
                self._put_last(address)
            else:
                return answer, address
        raise Unreachable(
            f"no name server answers: {'; '.join(error.message for error in failures)}",
            address=";".join(self._addresses),
            hint=next((error.hint for error in failures if error.hint), _NOBODY_HINT),
        )

    async def route(self, topic: str) -> tuple[TopicRoute, str]:
        """Where a topic is, and who says so; TopicNotFound if nobody has it."""
        answer, address = await self.ask(
            RemotingCommand(
                RequestCode.GET_ROUTEINFO_BY_TOPIC,
                ext_fields={"topic": topic, "acceptStandardJsonOnly": "true"},
            )
        )
        if answer.code == ResponseCode.TOPIC_NOT_EXIST:
            raise TopicNotFound(
                f"the name server {address} knows no topic {topic!r}",
                topic=topic,
                hint=f"create it, `aerobee topic create {topic}`, "
                "or see whether its broker has registered there",
            )
        error = error_for(answer.code, answer.remark)
        if error is not None:
            raise error
        return decode_topic_route(bytes(answer.body)), address

    async def cluster(self) -> ClusterInfo:
        """Every broker that is alive."""
        answer, _ = await self.ask(RemotingCommand(RequestCode.GET_BROKER_CLUSTER_INFO))
        error = error_for(answer.code, answer.remark)
        if error is not None:
            raise error
        return decode_cluster_info(bytes(answer.body))

    def _put_last(self, address: str) -> None:
        self._addresses.remove(address)
        self._addresses.append(address)
