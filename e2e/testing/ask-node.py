"""Asks a node over gRPC with nothing but its address: the interface itself comes by reflection. Prints JSON."""

import json
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

REFLECTION = "grpc.reflection.v1alpha"
SERVICE = "porthole.v1.NodeStateService"
STRING, BYTES, MESSAGE = 9, 12, 11


def reflection_file():
    """The part of the reflection protocol that is needed; the package that has it is not part of grpcio."""
    file = descriptor_pb2.FileDescriptorProto(name="reflection.proto", package=REFLECTION, syntax="proto3")

    def message(name, *fields):
        added = file.message_type.add(name=name)
        for field, number, kind, many, type_name in fields:
            label = 3 if many else 1
            added.field.add(name=field, number=number, type=kind, label=label, type_name=type_name)

    message("Request", ("file_containing_symbol", 4, STRING, False, None), ("list_services", 7, STRING, False, None))
    message("Files", ("file_descriptor_proto", 1, BYTES, True, None))
    message("Service", ("name", 1, STRING, False, None))
    message("Services", ("service", 1, MESSAGE, True, f".{REFLECTION}.Service"))
    message(
        "Response",
        ("file_descriptor_response", 4, MESSAGE, False, f".{REFLECTION}.Files"),
        ("list_services_response", 6, MESSAGE, False, f".{REFLECTION}.Services"),
    )
    return file


pool = descriptor_pool.DescriptorPool()
pool.Add(reflection_file())
factory = message_factory.MessageFactory(pool)


def message_class(name):
    return factory.GetPrototype(pool.FindMessageTypeByName(name))


def reflect(channel, **question):
    request, response = message_class(f"{REFLECTION}.Request"), message_class(f"{REFLECTION}.Response")
    ask = channel.stream_stream(
        f"/{REFLECTION}.ServerReflection/ServerReflectionInfo",
        request_serializer=request.SerializeToString,
        response_deserializer=response.FromString,
    )
    return next(ask(iter([request(**question)])))


def method(channel, name):
    described = pool.FindServiceByName(SERVICE).methods_by_name[name]
    request, response = (factory.GetPrototype(t) for t in (described.input_type, described.output_type))
    kind = channel.unary_stream if name in ("ViewLog", "SearchLogs") else channel.unary_unary
    call = kind(
        f"/{SERVICE}/{name}",
        request_serializer=request.SerializeToString,
        response_deserializer=response.FromString,
    )
    return lambda **fields: call(json_format.ParseDict(fields, request()), timeout=20)


def main(address):
    with grpc.insecure_channel(address) as channel:
        services = reflect(channel, list_services="*").list_services_response.service
        for file in reflect(channel, file_containing_symbol=SERVICE).file_descriptor_response.file_descriptor_proto:
            pool.AddSerializedFile(file)
        limit = pool.FindMessageTypeByName("porthole.v1.SearchLogsRequest").fields_by_name["limit"]
        described = method(channel, "Describe")()
        viewed = list(method(channel, "ViewLog")(file="a.log"))
        found = list(method(channel, "SearchLogs")(filter={"terms": ["two"], "minLevel": "LEVEL_WARN"}))
        try:
            method(channel, "StatLog")(file="absent")
            failure = None
        except grpc.RpcError as error:
            trailers = dict(error.trailing_metadata())
            failure = {"status": error.code().name, "details": error.details(), "code": trailers["porthole-code"]}
        items = [item for batch in found for item in batch.items]
        print(
            json.dumps(
                {
                    "services": sorted(service.name for service in services),
                    "limitIsOptional": limit.has_presence,
                    "httpPort": described.node.http_port,
                    "sizeBytes": viewed[0].size_bytes,
                    "text": b"".join(piece.chunk for piece in viewed).decode(),
                    "messages": [item.record.message for item in items if item.HasField("record")],
                    "end": items[-1].end.reason,
                    "failure": failure,
                }
            )
        )


main(sys.argv[1])
