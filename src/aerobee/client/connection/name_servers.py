"""`NameServers` sends requests to any of the name servers, first to the one that answered last.

If one does not answer, the next is asked at once; only when all have failed is an error raised,
with the failure of each of them. One that is asked too much says how long to wait, and is asked
again then, as long as the time limit allows.
"""

import asyncio

from aerobee.client.connection.connections import Connections
from aerobee.errors import NoAnswer, TopicNotFound, Unreachable
from aerobee.model.route import ClusterInfo, TopicRoute
from aerobee.protocol.bodies.topic_route import decode_cluster_info, decode_topic_route
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import RETRY_AFTER, ResponseCode, error_for

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
        """The first answer, whatever its code, and the address of the name server that gave it."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._timeout
        while True:
            answer, address = await self._ask_each(command)
            seconds = _seconds_to_wait(answer)
            if not seconds or loop.time() + seconds > end:
                return answer, address
            await asyncio.sleep(seconds)

    async def _ask_each(self, command: RemotingCommand) -> tuple[RemotingCommand, str]:
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
        """The route of a topic and the name server that gave it; TopicNotFound if it has none."""
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
        """All brokers that are alive."""
        answer, _ = await self.ask(RemotingCommand(RequestCode.GET_BROKER_CLUSTER_INFO))
        error = error_for(answer.code, answer.remark)
        if error is not None:
            raise error
        return decode_cluster_info(bytes(answer.body))

    def _put_last(self, address: str) -> None:
        self._addresses.remove(address)
        self._addresses.append(address)


def _seconds_to_wait(answer: RemotingCommand) -> float:
    """How long a refusal says to wait; 0: it is none that says so."""
    wait_ms = answer.ext_fields.get(RETRY_AFTER, "")
    return int(wait_ms) / 1000 if wait_ms.isdecimal() and wait_ms.isascii() else 0
