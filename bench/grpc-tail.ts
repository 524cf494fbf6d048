import { join } from 'node:path';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader';
import { ROOT } from './context.ts';

export interface GrpcTails {
  /** Reads a tail to its end and throws it away; resolves to its bytes. */
  read(file: string, sizeBytes: number): Promise<number>;
  close(): void;
}

/**
 * A client as any program has it: grpc-js and the .proto file. HTTP/2 lets a stream send only as much as its window holds
 * before it hears from the client; grpc-js's has 64 KiB unless set otherwise.
 */
export function openGrpcTails(port: number, options: { 'grpc-node.flow_control_window'?: number } = {}): GrpcTails {
  const service = loadSync(join(ROOT, 'proto/porthole/v1/node_state.proto'), { keepCase: true, longs: Number })[
    'porthole.v1.NodeStateService'
  ] as ServiceDefinition;
  const method = service.ViewLog;
  if (!method) throw new Error('the .proto file has no ViewLog');
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  return {
    read: (file, size) =>
      new Promise((resolve, reject) => {
        let bytes = 0;
        const { path, requestSerialize, responseDeserialize } = method;
        const call = client.makeServerStreamRequest(
          path,
          requestSerialize,
          responseDeserialize,
          { file, size },
          new Metadata(),
        );
        call.on('data', ({ chunk }: { chunk?: Uint8Array }) => {
          bytes += chunk?.length ?? 0;
        });
        call.on('end', () => resolve(bytes));
        call.on('error', reject);
      }),
    close: () => client.close(),
  };
}
