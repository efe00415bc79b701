"""A call of gRPC that RocketMQ's official client would not make: it checks fields by itself."""

import grpc
from rocketmq.grpc_protocol import definition_pb2, service_pb2, service_pb2_grpc

SECONDS_MAX = 60
_PRIORITY = 6
_WHO = (
    ("x-mq-client-id", "raw"),
    ("x-mq-language", "PYTHON"),
    ("x-mq-client-version", "5.1.2"),
    ("x-mq-protocol", "v2"),
)


def code_of_priority(address: str, topic: str, priority: int) -> int:
    """Send a message of this priority; the code of the answer's status."""
    message = definition_pb2.Message(topic=definition_pb2.Resource(name=topic), body=b"x")
    said = message.system_properties
    said.message_id, said.message_type, said.priority = "01" + "A" * 32, _PRIORITY, priority
    with grpc.insecure_channel(address) as channel:
        stub = service_pb2_grpc.MessagingServiceStub(channel)
        request = service_pb2.SendMessageRequest(messages=[message])
        return int(stub.SendMessage(request, metadata=_WHO, timeout=SECONDS_MAX).status.code)
