import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { FollowItem } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRequest, requestProblem } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { schemaProblems } from './testing/schema-problems.ts';

const line = (number: number) => `2026-11-15 10:00:00.000\tINFO\tmain.go:1\t[Node] [Count]: number ${number}\n`;

const serve = (heartbeatMs = 15_000) =>
  startTestNode({
    files: { 'db.log': line(1) + line(2) + line(3) },
    settings: { node: { timeZone: 'UTC' }, follow: { heartbeatMs } },
  });

interface Following {
  text: string;
  ended: boolean;
  items(): FollowItem[];
  numbers(): number[];
  ids(): string[];
}

async function follow(port: number, query: string, headers = {}): Promise<Following> {
  const response: IncomingMessage = await openRequest(port, `/api/v1/log/follow?${query}`, { headers });
  expect(response.statusCode).toBe(200);
  onTestFinished(() => {
    response.destroy();
  });
  const following: Following = {
    text: '',
    ended: false,
    items: () => [...following.text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as FollowItem),
    numbers: () =>
      following
        .items()
        .flatMap((item) => (item.type === 'record' ? [Number(/number (\d+)/.exec(item.message)?.[1])] : [])),
    ids: () => [...following.text.matchAll(/^id: (.*)$/gm)].map(([, id = '']) => id),
  };
  response.on('data', (part: Buffer) => {
    following.text += part.toString();
  });
  response.once('end', () => {
    following.ended = true;
  });
  response.once('error', () => {});
  return following;
}

describe('following over HTTP', () => {
  it('emits new records, from a number of records back, or from a time', async () => {
    const { port, logDir } = await serve();
    const fromEnd = await follow(port, 'family=db.log');
    const fromBack = await follow(port, 'family=db.log&back=2');
    const fromTime = await follow(port, 'family=db.log&time=2026-11-15');
    await eventually(() => expect(fromBack.numbers()).toEqual([2, 3]));
    appendFileSync(join(logDir, 'db.log'), line(4) + line(5));
    await eventually(() => expect(fromEnd.numbers()).toEqual([4, 5]));
    await eventually(() => expect(fromBack.numbers()).toEqual([2, 3, 4, 5]));
    await eventually(() => expect(fromTime.numbers()).toEqual([1, 2, 3, 4, 5]));
    for (const item of fromTime.items()) expect(schemaProblems(item, 'FollowItem')).toEqual([]);
  });

  it('resumes after Last-Event-ID, across a rotation', async () => {
    const { port, logDir } = await serve();
    const first = await follow(port, 'family=db.log&back=3');
    await eventually(() => expect(first.numbers()).toEqual([1, 2, 3]));
    renameSync(join(logDir, 'db.log'), join(logDir, 'db.log.1'));
    writeFileSync(join(logDir, 'db.log'), line(4));
    await eventually(() => expect(first.numbers()).toEqual([1, 2, 3, 4]));
    expect(first.items().map(({ type }) => type)).toContain('rotated');
    for (const item of first.items()) expect(schemaProblems(item, 'FollowItem')).toEqual([]);

    const resumed = await follow(port, 'family=db.log&back=3', { 'last-event-id': first.ids()[1] });
    await eventually(() => expect(resumed.numbers()).toEqual([3, 4]));
  });

  it('emits only what matches the filter', async () => {
    const { port, logDir } = await serve();
    const following = await follow(port, 'family=db.log&q=NUMBER%201&back=10');
    appendFileSync(join(logDir, 'db.log'), Array.from({ length: 20 }, (_, index) => line(index)).join(''));
    await eventually(() => expect(following.numbers()).toEqual([1, 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]));
  });

  it('sends a heartbeat as often as the client asks for one, within limits, and says how often', async () => {
    const { port } = await serve();
    const beat = async (wanted?: string) => {
      const headers = wanted === undefined ? {} : { 'porthole-heartbeat': wanted };
      const response = await openRequest(port, '/api/v1/log/follow', { headers });
      response.destroy();
      return response.headers['porthole-heartbeat'];
    };
    expect([await beat(), await beat('often')]).toEqual([undefined, undefined]);
    expect([await beat('2000'), await beat('1'), await beat('3600000')]).toEqual(['2000', '1000', '15000']);
    const quiet = await follow(port, 'family=db.log', { 'porthole-heartbeat': '1000' });
    await eventually(() => expect(quiet.text).toMatch(/^retry: 1000\n\n: position {.*}\n\n: still here\n\n$/));
  });

  it('sends a heartbeat after follow.heartbeat', async () => {
    const { port } = await serve(100);
    const following = await follow(port, 'family=db.log');
    await eventually(() => expect(following.text).toContain(': still here\n\n'));
  });

  it.each([
    ['family=absent.log', 404, 'LOG_FAMILY_NOT_FOUND'],
    ['cursor=nonsense', 400, 'CURSOR_INVALID'],
    ['regex=(', 400, 'REGEX_INVALID'],
    ['back=10001', 400, 'PARAMETER_INVALID'],
  ])('%s is refused with %i %s', async (query, status, code) => {
    const { port } = await serve();
    expect(await requestProblem(port, `/api/v1/log/follow?${query}`)).toMatchObject({ status, code });
  });
});

it('a stopping node notifies its followers, and does not wait for them', async () => {
  const { port, running } = await serve();
  const following = await follow(port, 'family=db.log&back=1');
  await eventually(() => expect(following.numbers()).toEqual([3]));
  await running.stop();
  await eventually(() => expect(following.ended).toBe(true));
  expect(following.items().at(-1)).toEqual({ type: 'end', reason: 'stopping' });
});
