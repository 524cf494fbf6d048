import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Client, credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { protoPath } from 'grpc-health-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTestNode } from '../testing/test-node.ts';
import { startGrpcServer } from './grpc-server.ts';

interface HealthClient extends Client {
  check(request: { service: string }, done: (error: Error | null, answer?: { status: string }) => void): void;
}

interface ReflectionClient extends Client {
  serverReflectionInfo(): {
    on(event: 'data', listener: (answer: { listServicesResponse: { service: { name: string }[] } }) => void): void;
    on(event: 'error', listener: (error: Error) => void): void;
    write(request: object): void;
    end(): void;
  };
}

function connect<T extends Client>(proto: string, path: readonly string[], port: number): T {
  const root: unknown = loadPackageDefinition(loadSync(proto, { enums: String }));
  const service = path.reduce(
    (scope, name) => (scope as Record<string, unknown>)[name],
    root,
  ) as ServiceClientConstructor;
  const client = new service(`127.0.0.1:${port}`, credentials.createInsecure()) as unknown as T;
  onTestFinished(() => client.close());
  return client;
}

function checkHealth(port: number): Promise<string> {
  const client = connect<HealthClient>(protoPath, ['grpc', 'health', 'v1', 'Health'], port);
  return new Promise((resolve, reject) => {
    client.check({ service: '' }, (error, answer) => (error ? reject(error) : resolve(answer?.status ?? '')));
  });
}

function listServices(port: number): Promise<string[]> {
  const reflection = createRequire(import.meta.url).resolve('@grpc/reflection');
  const proto = join(dirname(reflection), '../proto/grpc/reflection/v1/reflection.proto');
  const client = connect<ReflectionClient>(proto, ['grpc', 'reflection', 'v1', 'ServerReflection'], port);
  return new Promise((resolve, reject) => {
    const call = client.serverReflectionInfo();
    call.on('error', reject);
    call.on('data', ({ listServicesResponse }) => {
      call.end();
      resolve(listServicesResponse.service.map(({ name }) => name));
    });
    call.write({ listServices: '' });
  });
}

describe('the gRPC port a node tells', () => {
  it('answers that it is serving', async () => {
    const { running } = await startTestNode();
    expect(await checkHealth(running.node.grpcPort)).toBe('SERVING');
  });

  it('lists its services', async () => {
    const { running } = await startTestNode();
    expect(await listServices(running.node.grpcPort)).toContain('grpc.health.v1.Health');
  });

  it('is free again once the node has stopped', async () => {
    const { running } = await startTestNode();
    const { grpcPort } = running.node;
    await checkHealth(grpcPort);
    await running.stop();
    const next = await startGrpcServer({ host: '127.0.0.1', port: grpcPort, tls: undefined });
    expect(next.port).toBe(grpcPort);
    await next.stop(0);
  });
});

describe('a gRPC server that stops', () => {
  it('cuts a call that does not end in time', async () => {
    const server = await startGrpcServer({ host: '127.0.0.1', port: 0, tls: undefined });
    const reflection = createRequire(import.meta.url).resolve('@grpc/reflection');
    const proto = join(dirname(reflection), '../proto/grpc/reflection/v1/reflection.proto');
    const client = connect<ReflectionClient>(proto, ['grpc', 'reflection', 'v1', 'ServerReflection'], server.port);
    const call = client.serverReflectionInfo();
    const failed = new Promise<Error>((resolve) => call.on('error', resolve));
    const begun = new Promise((resolve) => call.on('data', resolve));
    call.write({ listServices: '' });
    await begun;
    await server.stop(20);
    expect(await failed).toBeInstanceOf(Error);
  });

  it('can be stopped on an IPv6 address as well', async () => {
    const server = await startGrpcServer({ host: '::1', port: 0, tls: undefined });
    expect(server.port).toBeGreaterThan(0);
    await server.stop(0);
  });
});
