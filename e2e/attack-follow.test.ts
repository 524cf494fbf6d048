import { execFileSync } from 'node:child_process';
import { eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';

const LOGS = 1300;
const CLIENTS = 4;
const MAX_OPEN_FILES = 600;

const line = (text: string) => `2026-11-15 10:00:00.000\tINFO\ta/b.go:1\t[x]: ${text}\n`;

it('clients that follow 1,300 logs leave descriptors for connections, and get a report of what they do not follow', async () => {
  const names = Array.from({ length: LOGS }, (_, number) => `service-${number}x.log`);
  const node = await AttackedNode.start({ files: Object.fromEntries(names.map((name) => [name, line('first')])) });
  execFileSync('prlimit', ['--pid', String(node.program.pid), `--nofile=${MAX_OPEN_FILES}:${MAX_OPEN_FILES}`]);
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const got = Array.from({ length: CLIENTS }, () => '');
  const follow = async (index: number) => {
    const { body } = await fetch(`${node.url}api/v1/log/follow`, { signal: leaving.signal });
    for await (const text of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) got[index] += text;
  };
  const running = got.map((_, index) => follow(index).catch(() => {}));
  const skipped = /"type":"skipped","count":(\d+),"detail":"(.*?)"}/;
  for (const [index] of got.entries()) {
    await eventually(() => expect(got[index]).toMatch(skipped), { withinMs: 60_000 });
    const [, count, detail] = skipped.exec(got[index] ?? '') ?? [];
    expect(Number(count)).toBeGreaterThan(LOGS - MAX_OPEN_FILES / 2);
    expect(detail).toContain(`may open ${MAX_OPEN_FILES} files`);
  }
  expect(node.openFiles).toBeLessThan(MAX_OPEN_FILES - 256);
  const answers = await Promise.all(Array.from({ length: 100 }, () => node.request('health/live')));
  answers.push(await node.request('api/v1/log/view?file=service-7x.log'));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  leaving.abort();
  await Promise.all(running);
  await node.expectHealthy();
});
