import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import { freePort, startProgram } from './program.ts';
import type { FakeMembers } from './query-node.ts';

const HOST = '127.0.0.1';
const READY_MS = 15_000;
const CLUSTER = '/porthole/porthole';

/** As many operations as etcd takes in one transaction. */
const MOST_PUTS = 128;

/** An etcd in which simulated members are registered, as they would be. */
export interface Registry {
  url: string;
  /** Writes the state of every member, as each of them does once a minute. */
  writeStates(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRegistry(context: BenchContext, { known, startedMs }: FakeMembers): Promise<Registry> {
  const url = `http://${HOST}:${await freePort()}`;
  const peer = `http://${HOST}:${await freePort()}`;
  const listen = ['--listen-client-urls', url, '--advertise-client-urls', url, '--listen-peer-urls', peer];
  const command = ['etcd', '--data-dir', context.tempDir(), '--log-level', 'error', ...listen];
  context.recordCommand(command);
  const program = startProgram(command, context.cleanup);
  await untilReady(url);
  const node = { hostIp: HOST, grpcPort: 0, version: '0.1.0', onlineTime: startedMs };
  await putAll(
    url,
    known.map(({ id, url: address }) => {
      const object = { ...node, hostName: id, httpPort: Number(new URL(address).port) };
      return [`${CLUSTER}/members/${id}`, { id, role: 'broker', labels: {}, url: address, node: object }];
    }),
  );
  return {
    url,
    writeStates: () =>
      putAll(
        url,
        known.map(({ id }) => {
          const counts = { lastRecordAgeMs: 1000, recentErrors: 3, problems: [] };
          const atMs = Date.now();
          const facts = { atMs, timeZone: 'UTC', uptimeMs: atMs - startedMs, ...counts };
          return [`${CLUSTER}/state/${id}`, { onlineTime: startedMs, ...facts }];
        }),
      ),
    stop: program.stop,
  };
}

async function putAll(url: string, entries: readonly (readonly [key: string, value: object])[]): Promise<void> {
  const encode = (text: string) => Buffer.from(text).toString('base64');
  for (let at = 0; at < entries.length; at += MOST_PUTS) {
    const success = entries
      .slice(at, at + MOST_PUTS)
      .map(([key, value]) => ({ requestPut: { key: encode(key), value: encode(JSON.stringify(value)) } }));
    const response = await fetch(`${url}/v3/kv/txn`, { method: 'POST', body: JSON.stringify({ success }) });
    if (!response.ok) throw new Error(`etcd responded with ${response.status}: ${await response.text()}`);
  }
}

async function untilReady(url: string): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const isReady = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false, // it does not listen yet
    );
    if (isReady) return;
    if (performance.now() - startedMs > READY_MS) throw new Error(`etcd was not ready within ${READY_MS} ms`);
    await sleep(50);
  }
}
