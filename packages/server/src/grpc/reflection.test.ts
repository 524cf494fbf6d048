import { type Client, credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer, type PackageDefinition } from '@grpc/proto-loader';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTestNode } from '../testing/test-node.ts';
import { reflect } from './testing/standard-services.ts';

/** Everything a client can know that has nothing but the address. */
async function reflectedDefinition(port: number, service: string): Promise<PackageDefinition> {
  const { fileDescriptorResponse } = await reflect(port, { fileContainingSymbol: service });
  const files = fileDescriptorResponse?.fileDescriptorProto ?? [];
  return loadFileDescriptorSetFromBuffer(Buffer.concat(files.map(asSetMember)), { longs: Number, keepCase: true });
}

/** A FileDescriptorSet is its files, each as field 1. */
function asSetMember(file: Buffer): Buffer {
  const length: number[] = [];
  let rest = file.length;
  for (; rest > 0x7f; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([0x0a, ...length, rest]), file]);
}

interface GenericClient extends Client {
  DescribeLogs(request: object, done: (error: Error | null, response: { logs: { name: string }[] }) => void): void;
  ViewLog(request: object): AsyncIterable<{ size_bytes?: number; chunk?: Buffer }>;
}

async function genericClient(port: number): Promise<GenericClient> {
  const definition = await reflectedDefinition(port, 'porthole.v1.NodeStateService');
  const root = loadPackageDefinition(definition) as unknown as {
    porthole: { v1: { NodeStateService: ServiceClientConstructor } };
  };
  const client = new root.porthole.v1.NodeStateService(`127.0.0.1:${port}`, credentials.createInsecure());
  onTestFinished(() => client.close());
  return client as unknown as GenericClient;
}

describe('a client that knows nothing but the address', () => {
  it('calls a unary method', async () => {
    const { running } = await startTestNode({ files: { 'a.log': 'text\n' } });
    const client = await genericClient(running.node.grpcPort);
    const response = await new Promise((resolve, reject) => {
      client.DescribeLogs({}, (error, found) => (error ? reject(error) : resolve(found)));
    });
    expect(response).toMatchObject({ logs: [{ name: 'a.log', size: 5, format: 'text' }] });
  });

  it('calls a method that responds with a stream', async () => {
    const { running } = await startTestNode({ files: { 'a.log': 'one\ntwo\n' } });
    const client = await genericClient(running.node.grpcPort);
    const pieces: string[] = [];
    for await (const { size_bytes, chunk } of client.ViewLog({ file: 'a.log', size: 5 }))
      pieces.push(chunk?.length ? chunk.toString() : `${size_bytes} bytes`);
    expect(pieces).toEqual(['4 bytes', 'two\n']);
  });
});

describe('the reflection service', () => {
  it('is the compiled file itself, with which fields are optional', async () => {
    const { running } = await startTestNode();
    const { fileDescriptorResponse } = await reflect(running.node.grpcPort, {
      fileByFilename: 'porthole/v1/node_state.proto',
    });
    const { DESCRIPTOR_BASE64 } = await import('./generated/descriptor.ts');
    const [file = Buffer.alloc(0)] = fileDescriptorResponse?.fileDescriptorProto ?? [];
    expect(asSetMember(file).length).toBe(Buffer.from(DESCRIPTOR_BASE64, 'base64').length);
  });
});
