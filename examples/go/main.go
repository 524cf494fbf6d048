// What went wrong on a node lately? A gRPC client with code generated from the .proto file.
//
// Generate the code beside this file, then run it:
//
//	go install google.golang.org/protobuf/cmd/protoc-gen-go@latest
//	go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@latest
//	M=Mporthole/v1/node_state.proto=example.com/query-node/portholev1
//	protoc -I ../../proto --go_out=. --go_opt=module=example.com/query-node,$M \
//	  --go-grpc_out=. --go-grpc_opt=module=example.com/query-node,$M porthole/v1/node_state.proto
//	go mod tidy
//	go run . 127.0.0.1:7301
//
// PORTHOLE_TOKEN is sent if it is set; PORTHOLE_CA_FILE turns TLS on.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"example.com/query-node/portholev1"
)

func main() {
	address := "127.0.0.1:7301"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if token := os.Getenv("PORTHOLE_TOKEN"); token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	if err := query(ctx, address); err != nil {
		log.Fatal(err)
	}
}

func query(ctx context.Context, address string) error {
	transport := insecure.NewCredentials()
	if caFile := os.Getenv("PORTHOLE_CA_FILE"); caFile != "" {
		secured, err := credentials.NewClientTLSFromFile(caFile, "")
		if err != nil {
			return err
		}
		transport = secured
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(transport))
	if err != nil {
		return err
	}
	defer conn.Close()
	node := portholev1.NewNodeStateServiceClient(conn)

	described, err := node.Describe(ctx, &portholev1.DescribeRequest{})
	if err != nil {
		return err
	}
	fmt.Println(described.GetNode().GetHostName(), described.GetNode().GetVersion())

	limit := int32(20)
	found, err := node.SearchLogs(ctx, &portholev1.SearchLogsRequest{
		Filter: &portholev1.RecordFilter{MinLevel: portholev1.Level_LEVEL_WARN},
		Limit:  &limit,
	})
	if err != nil {
		return err
	}
	for {
		batch, err := found.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, item := range batch.GetItems() {
			if record := item.GetRecord(); record != nil {
				fmt.Println(record.GetTimeMs(), record.GetMessage())
			} else if end := item.GetEnd(); end != nil {
				fmt.Printf("%s: scanned %d bytes\n", end.GetReason(), end.GetScannedBytes())
			}
		}
	}
}
