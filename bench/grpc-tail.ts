import { join } from 'node:path';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader';
import { ROOT } from './context.ts';

/** HTTP/2 gives a stream 64 KiB at a time unless told otherwise, which is what a client pays for with a round trip each. */
const WINDOW_BYTES = 4 * 1024 ** 2;

export interface GrpcTails {
  /** Reads a tail to its end and throws it away; resolves to its bytes. */
  read(file: string, sizeBytes: number): Promise<number>;
  close(): void;
}

/** A client as any program has it: grpc-js and the .proto file. */
export function openGrpcTails(port: number): GrpcTails {
  const service = loadSync(join(ROOT, 'proto/porthole/v1/node_state.proto'), { keepCase: true, longs: Number })[
    'porthole.v1.NodeStateService'
  ] as ServiceDefinition;
  const method = service.ViewLog;
  if (!method) throw new Error('the .proto file has no ViewLog');
  const options = { 'grpc-node.flow_control_window': WINDOW_BYTES };
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
