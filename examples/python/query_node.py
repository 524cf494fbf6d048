"""What went wrong on a node lately? A gRPC client with code generated from the .proto file.

Generate the code beside this file, then run it:

    pip install grpcio-tools
    python -m grpc_tools.protoc -I ../../proto --python_out=. --grpc_python_out=. porthole/v1/node_state.proto
    python query_node.py 127.0.0.1:7301

With Debian's packages (protobuf-compiler-grpc, python3-grpcio):

    protoc -I ../../proto --python_out=. --grpc_out=. --plugin=protoc-gen-grpc=/usr/bin/grpc_python_plugin \
      porthole/v1/node_state.proto

PORTHOLE_TOKEN is sent if it is set; PORTHOLE_CA_FILE turns TLS on.
"""

import os
import sys

import grpc
from porthole.v1 import node_state_pb2 as messages
from porthole.v1 import node_state_pb2_grpc as services


def connect(address):
    ca_file = os.environ.get("PORTHOLE_CA_FILE")
    if ca_file is None:
        return grpc.insecure_channel(address)
    with open(ca_file, "rb") as file:
        return grpc.secure_channel(address, grpc.ssl_channel_credentials(file.read()))


def main(address):
    token = os.environ.get("PORTHOLE_TOKEN")
    options = {"metadata": [("authorization", f"Bearer {token}")] if token else [], "timeout": 30}
    with connect(address) as channel:
        node = services.NodeStateServiceStub(channel)
        described = node.Describe(messages.DescribeRequest(), **options)
        print(f"{described.node.host_name} {described.node.version}")

        warnings = messages.RecordFilter(min_level=messages.LEVEL_WARN)
        for group in node.DigestLogs(messages.DigestLogsRequest(filter=warnings, limit=5), **options).groups:
            print(f"{group.count} times: {group.sample.message}")

        for batch in node.SearchLogs(messages.SearchLogsRequest(filter=warnings, limit=20), **options):
            for item in batch.items:
                if item.HasField("record"):
                    print(item.record.time_ms, item.record.message)
                elif item.HasField("end"):
                    print(f"{item.end.reason}: scanned {item.end.scanned_bytes} bytes")


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7301")
    except grpc.RpcError as error:
        code = dict(error.trailing_metadata() or ()).get("porthole-code", error.code().name)
        sys.exit(f"{code}: {error.details()}")
