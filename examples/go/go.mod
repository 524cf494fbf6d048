module example.com/query-node

go 1.23

require (
	google.golang.org/grpc v1.67.0
	google.golang.org/protobuf v1.35.0
)
