import { onTestFinished } from 'vitest';
import { Connection, type ConnectOptions } from './connection.ts';
import { GrpcNode } from './grpc-node.ts';

/** A connection that is closed when the test ends. */
export function connect(port: number, options?: ConnectOptions): Connection {
  const connection = new Connection(port, options);
  onTestFinished(() => connection.close());
  return connection;
}

/** A node over gRPC, until the test ends. */
export function connectNode(port: number, options?: ConnectOptions): GrpcNode {
  const node = new GrpcNode(port, options);
  onTestFinished(() => node.close());
  return node;
}
