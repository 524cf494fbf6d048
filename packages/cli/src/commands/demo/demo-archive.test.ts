import { tempDir } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { startDemoClickHouse } from './demo-archive.ts';
import { freePorts } from './demo-nodes.ts';

it('without a ClickHouse server it says what to install', async () => {
  const dir = tempDir();
  await expect(startDemoClickHouse(dir, { ports: [1, 2, 3], dirs: [dir] })).rejects.toThrow(
    /apt install clickhouse-server/,
  );
});

it('a server is started, responds, and is gone afterwards', async () => {
  const server = await startDemoClickHouse(tempDir(), { ports: await freePorts(3) });
  expect(await (await fetch(`${server.url}/?query=SELECT%201`)).text()).toBe('1\n');
  await server.stop();
  await expect(fetch(server.url)).rejects.toThrow();
});
