import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@porthole/client';
import type { MemberReport } from '@porthole/contract';
import { pathOfAll } from '@porthole/contract/testing';
import type { FoundRecord, SearchEnd } from '@porthole/logs';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { requestJson, sendRequest } from '../testing/send-request.ts';
import { startWithSharedThreads, testSettings } from '../testing/test-node.ts';

/** Files that are read at once. */
const MOST = 1000;
const OLD = 1200;
const LINE = '2026-09-15 05:00:00.000\tINFO\ta.go:1\t[A]: ';
const OLD_MS = Date.parse('2026-09-15T05:00:00Z');
const LIVE_MS = OLD_MS + 86_400_000 * 30;

/** The live log is the last one by name; the others have one record each, and were written long before. */
async function startCrowded() {
  const dir = tempDir();
  const logDir = join(dir, 'logs');
  mkdirSync(logDir);
  for (let at = 0; at < OLD; at++) {
    const path = join(logDir, `job-${String(at).padStart(5, '0')}x.log`);
    writeFileSync(path, `${LINE}old ${at}\n`);
    utimesSync(path, OLD_MS / 1000 + at, OLD_MS / 1000 + at);
  }
  writeFileSync(join(logDir, 'zz-live.log'), '2026-10-15 05:00:00.000\tERROR\tlive.go:1\t[Z]: alive\n');
  const cluster = { nodeId: 'n', recorders: 0, memberTimeoutMs: 600_000, firstBatchTimeoutMs: 600_000 };
  // A busy machine must not make them late.
  const settings = testSettings(dir, { node: { timeZone: 'UTC' }, search: { budgetMs: 600_000 }, cluster });
  const running = await startWithSharedThreads({ settings });
  onTestFinished(() => running.stop());
  return { port: running.node.httpPort, url: running.url };
}

const LEFT_OUT = `${OLD + 1 - MOST} files of ${OLD + 1 - MOST} logs were not read: at most 1000 files are read at once`;
const PROBLEM = { code: 'TOO_MANY_FILES', detail: expect.stringContaining(LEFT_OUT) };

async function search(port: number, path: string) {
  const { body } = await sendRequest(port, path);
  const items = body
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return {
    records: items.slice(0, -1) as FoundRecord[],
    end: items.at(-1) as SearchEnd & { members?: MemberReport[] },
  };
}

it('of more files than are read at once, those written last are read, and every answer says how many are left out', async () => {
  const { port, url } = await startCrowded();
  const newest = await search(port, '/api/v1/log/search?limit=5');
  expect(newest.records[0]?.message).toBe('alive');
  expect(newest.end.problems).toMatchObject([PROBLEM]);
  for (const count of ['digest', 'fields']) {
    const { end } = await requestJson<{ end: SearchEnd }>(port, `/api/v1/log/${count}`);
    expect(end.problems).toMatchObject([PROBLEM]);
  }
  const members = [{ outcome: 'ok', isPartial: true, detail: expect.stringContaining(LEFT_OUT) }];
  for (const count of ['histogram', 'top?by=level'])
    expect(await requestJson(port, pathOfAll(`log/${count}`))).toMatchObject({ members });
  // Every file that is read is read once, and the rest is said to be missing.
  const { records, end } = await search(port, `/api/v1/log/search?nodes=*&limit=${OLD}`);
  const read = Array.from({ length: MOST - 1 }, (_, at) => `old ${OLD - 1 - at}`);
  expect(records.map(({ message }) => message).toSorted()).toEqual(['alive', ...read].toSorted());
  expect(end).toMatchObject({ problems: [PROBLEM], members });
  const found: string[] = [];
  for await (const { message } of createClient({ url }).records({ nodes: ['*'], limit: 1 })) found.push(message);
  expect(found).toEqual(['alive']);
  // The list names them all.
  expect(await requestJson<unknown[]>(port, '/api/v1/log/list')).toHaveLength(OLD + 1);
  // Files last written before the time range are not missed.
  const from = new Date(LIVE_MS - 3_600_000).toISOString();
  const recent = await search(port, `/api/v1/log/search?from=${from}`);
  expect(recent.records.map(({ message }) => message)).toEqual(['alive']);
  expect(recent.end.problems).toEqual([]);
});
