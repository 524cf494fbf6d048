import { eventually } from '@porthole/logs/testing';
import { countConnections, sendRequest, startTestNode } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import type { Client } from './client.ts';
import { createClient } from './http-client.ts';
import { catchFailure } from './testing/catch-failure.ts';

/** More than the socket buffers hold, so that a reader that leaves does so midway. */
const BIG = '2026-11-15 10:00:00.000\tINFO\tmain.go:1\t[Node] [Count]: a line\n'.repeat(200_000);

const QUERY = { order: 'newest', limit: 10_000, before: 0, after: 0, raw: true } as const;

async function leaveInside(chunks: AsyncIterable<unknown>, count: number): Promise<void> {
  let left = count;
  for await (const _ of chunks) if (--left <= 0) break;
}

async function throwInside(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks) throw new Error('thrown inside');
}

/** Every call, as something to iterate over. */
const STREAMS: Record<string, (client: Client, signal?: AbortSignal) => AsyncIterable<unknown>> = {
  view: (client, signal) => ({
    async *[Symbol.asyncIterator]() {
      yield* (await client.viewLog({ file: 'big.log', sizeBytes: 1e9 }, { ...(signal && { signal }) })).chunks;
    },
  }),
  raw: (client, signal) => ({
    async *[Symbol.asyncIterator]() {
      yield* (await client.openLog({ file: 'big.log' })).read(0, Infinity, { signal });
    },
  }),
  search: (client, signal) => client.search(QUERY, { ...(signal && { signal }) }),
  follow: (client, signal) => client.follow({ start: { back: 1000 } }, { ...(signal && { signal }) }),
};

/** Leaves each kind of response in every way. */
async function leaveEverything(client: Client): Promise<void> {
  for (const [name, open] of Object.entries(STREAMS)) {
    await leaveInside(open(client), 1);
    await leaveInside(open(client), 2);
    expect(await catchFailure(throwInside(open(client)))).toMatchObject({ message: 'thrown inside' });

    const controller = new AbortController();
    const abortInside = async () => {
      for await (const _ of open(client, controller.signal)) controller.abort(new Error(`left ${name}`));
    };
    // A follow is not cut by its signal but ended.
    if (name === 'follow') await abortInside();
    else expect(await catchFailure(abortInside())).toBe(controller.signal.reason);
  }
  const closed = await client.viewLog({ file: 'big.log', sizeBytes: 1e9 });
  await closed.close();
  await closed.close();
  expect(await catchFailure(closed.chunks)).toBeInstanceOf(Error);
  const log = await client.openLog({ file: 'big.log' });
  await log.read(0, Infinity)[Symbol.asyncIterator]().next();
  await log.close();
  for (const operation of ['config', 'listLogs', 'describe', 'settings', 'logFiles'] as const)
    await client[operation]();
  await catchFailure(client.viewLog({ file: 'absent', sizeBytes: 1 }));
}

it('no way of leaving keeps a connection or a stream open', async () => {
  const { port, running } = await startTestNode({ files: { 'big.log': BIG } });
  // No connection is used again: how many fetch would keep depends on how busy the machine is.
  const client = createClient({ url: running.url, headers: { connection: 'close' } });
  await leaveEverything(client);
  await leaveEverything(client);
  await eventually(async () => {
    const metrics = (await sendRequest(port, '/metrics')).body.toString();
    expect(/^porthole_open_streams .*$/m.exec(metrics)?.[0]).toBe('porthole_open_streams 0');
  });
  await eventually(() => expect(countConnections(port)).toBe(0));
});
