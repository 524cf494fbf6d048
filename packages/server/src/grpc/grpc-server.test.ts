import { createConnection } from 'node:net';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { startTestNode } from '../testing/test-node.ts';
import { type GrpcAdapter, startGrpcServer } from './grpc-server.ts';
import { checkHealth, healthClient, openReflection, reflect } from './testing/standard-services.ts';

const CLOSED: { openAdapter(): Promise<GrpcAdapter>; onFailure(): void } = {
  openAdapter: () => Promise.reject(new Error('no adapter')),
  onFailure() {},
};

describe('the gRPC port a node reports', () => {
  it('reports that the node and its service are serving, and knows no other', async () => {
    const { running } = await startTestNode();
    expect(await checkHealth(running.node.grpcPort)).toBe('SERVING');
    expect(await checkHealth(running.node.grpcPort, 'porthole.v1.NodeStateService')).toBe('SERVING');
    await expect(checkHealth(running.node.grpcPort, 'other')).rejects.toThrow('NOT_FOUND');
  });

  it('lists its services', async () => {
    const { running } = await startTestNode();
    const { listServicesResponse } = await reflect(running.node.grpcPort, { listServices: '' });
    const names = listServicesResponse?.service.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['grpc.health.v1.Health', 'porthole.v1.NodeStateService']));
  });

  it('is free again once the node has stopped', async () => {
    const { running } = await startTestNode();
    const { grpcPort } = running.node;
    await checkHealth(grpcPort);
    await running.stop();
    // A connection of another test may have it for a moment.
    await eventually(async () => {
      const next = await startGrpcServer({ tls: undefined, host: '127.0.0.1', port: grpcPort, ...CLOSED });
      expect(next.port).toBe(grpcPort);
      await next.stop(0);
    });
  });
});

describe('a gRPC server that stops', () => {
  it('cuts a call that does not end in time', async () => {
    const { running } = await startTestNode({ settings: { node: { stopTimeoutMs: 20 } } });
    const call = openReflection(running.node.grpcPort);
    const failed = new Promise<Error>((resolve) => call.on('error', resolve));
    const begun = new Promise((resolve) => call.on('data', resolve));
    call.write({ listServices: '' });
    await begun;
    await running.stop();
    expect(await failed).toBeInstanceOf(Error);
  });

  it('notifies health watchers, and does not wait for them', async () => {
    const { running } = await startTestNode({ settings: { node: { stopTimeoutMs: 3_600_000 } } });
    const watch = healthClient(running.node.grpcPort).watch({ service: '' });
    const reported: string[] = [];
    const ended = new Promise<Error>((resolve) => watch.on('error', resolve));
    const begun = new Promise<void>((resolve) => {
      watch.on('data', ({ status }) => {
        reported.push(status);
        resolve();
      });
    });
    await begun;
    await running.stop();
    expect((await ended).message).toContain('UNAVAILABLE');
    expect(reported).toEqual(['SERVING', 'NOT_SERVING']);
  });

  it('can be stopped on an IPv6 address, and before anyone came', async () => {
    const server = await startGrpcServer({ tls: undefined, host: '::1', port: 0, ...CLOSED });
    expect(server.port).toBeGreaterThan(0);
    await server.stop(0);
  });
});

describe('a gRPC server whose service cannot be opened', () => {
  it('is reported, closes the connection, and is retried with the next one', async () => {
    const failures: unknown[] = [];
    let opened = 0;
    const openAdapter = () => {
      opened++;
      return Promise.reject(new Error(`attempt ${opened}`));
    };
    const onFailure = (error: unknown) => failures.push(error);
    const server = await startGrpcServer({
      tls: undefined,
      host: '127.0.0.1',
      port: 0,
      openAdapter: openAdapter,
      onFailure,
    });
    for (let i = 0; i < 2; i++) {
      const socket = createConnection({ host: '127.0.0.1', port: server.port });
      socket.on('error', () => {});
      await new Promise((resolve) => socket.resume().once('close', resolve));
    }
    expect(failures.map(String)).toEqual(['Error: attempt 1', 'Error: attempt 2']);
    await server.stop(0);
  });
});
