import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestNode } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import { ClientError, createClient, type FoundRecord } from './index.ts';

const line = (second: number, level: string, message: string) =>
  `2026-11-15 10:00:${String(second).padStart(2, '0')}.000\t${level}\tflow/write.go:88\t[Broker] [Flow]: ${message}\n`;

it('an operator looks into a node from a program', async () => {
  const log =
    line(1, 'INFO', 'started') + line(2, 'ERROR', 'timeout of shard 3') + line(3, 'ERROR', 'timeout of shard 4');
  const { running, logDir } = await startTestNode({
    files: { 'broker.log': log },
    settings: { node: { timeZone: 'UTC', hostName: 'broker-0' } },
  });
  const node = createClient({ url: running.url });

  // Who is it, and what is it configured to do?
  expect(await node.config()).toEqual(await running.state.config());
  expect((await node.describe()).node.hostName).toBe('broker-0');
  expect(
    (await node.settings()).configs[0]?.settings?.settings.find(({ key }) => key === 'node.host-name'),
  ).toMatchObject({
    value: 'broker-0',
    changed: true,
  });

  // Which logs are there, and how does one end?
  expect(await node.listLogs()).toEqual([{ name: 'broker.log', size: log.length }]);
  expect((await node.logFiles()).files).toMatchObject([{ family: 'broker.log', format: 'contract', state: 'live' }]);
  const view = await node.viewLog({ file: 'broker.log', sizeBytes: 100 });
  expect(view.sizeBytes).toBe(line(3, 'ERROR', 'timeout of shard 4').length);
  for await (const chunk of view.chunks) expect(new TextDecoder().decode(chunk)).toContain('shard 4');

  // What went wrong, when and where?
  const found: string[] = [];
  const errors = { src: ['broker.log'], minLevel: 'ERROR', order: 'oldest', limit: 10, before: 0, after: 0 } as const;
  for await (const items of node.search({ ...errors, terms: ['TIMEOUT'] }))
    for (const item of items) found.push(item.type === 'record' ? item.message : item.reason);
  expect(found).toEqual(['timeout of shard 3', 'timeout of shard 4', 'exhausted']);
  const { buckets } = await node.histogram({ src: ['broker.log'], bucketMs: 60_000, buckets: 60 });
  expect(buckets.map(({ counts }) => counts)).toEqual([{ INFO: 1, ERROR: 2 }]);
  const { groups } = await node.digest({ minLevel: 'ERROR', limit: 5 });
  expect(groups).toMatchObject([{ level: 'ERROR', source: 'flow/write.go:88', count: 2 }]);

  // Does it happen again?
  const watching = new AbortController();
  const seen: FoundRecord[] = [];
  let reason = '';
  for await (const items of node.follow({ src: ['broker.log'], start: 'end' }, { signal: watching.signal })) {
    if (items.length === 0) appendFileSync(join(logDir, 'broker.log'), line(4, 'ERROR', 'timeout of shard 5'));
    for (const item of items) {
      if (item.type === 'record') seen.push(item);
      if (item.type === 'end') reason = item.reason;
    }
    if (seen.length > 0) watching.abort();
  }
  expect(seen.map(({ message }) => message)).toEqual(['timeout of shard 5']);
  expect(reason).toBe('cancelled');

  // All of it, to keep.
  const file = await node.openLog({ file: 'broker.log' });
  let kept = 0;
  for await (const chunk of file.read(0, file.sizeBytes)) kept += chunk.length;
  expect(kept).toBe(file.sizeBytes);
  await file.close();

  // A mistake is reported with its code and the request.
  const mistake = await node.viewLog({ file: 'brocker.log', sizeBytes: 1 }).catch((error: unknown) => error);
  expect(mistake).toBeInstanceOf(ClientError);
  expect(mistake).toMatchObject({ code: 'LOG_FILE_NOT_FOUND', status: 404, method: 'GET' });
  expect(String(mistake)).toContain('did you mean "broker.log"?');
});
