import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type FollowItem, readItemText } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRequest } from '../testing/send-request.ts';
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
  it('sends the text of records to whoever asks for it', async () => {
    const { port, logDir } = await serve();
    appendFileSync(join(logDir, 'db.log'), Array.from({ length: 40 }, (_, index) => line(index)).join(''));
    const recording = await follow(port, 'family=db.log&raw=true', { 'porthole-records': 'texts' });
    await eventually(() => expect(recording.text).toContain('position'));
    appendFileSync(join(logDir, 'db.log'), line(41) + line(42));
    const texts = () => recording.items().flatMap((item) => (item.type === 'text' ? [readItemText(item)?.text] : []));
    await eventually(() =>
      expect(Buffer.concat(texts().map((text) => text ?? Buffer.alloc(0))).toString()).toBe(line(41) + line(42)),
    );
    expect(recording.numbers()).toEqual([]);
  });

  it('resumes after Last-Event-ID, across a rotation', async () => {
    const { port, logDir } = await serve();
    const first = await follow(port, 'family=db.log&back=3');
    await eventually(() => expect(first.numbers()).toEqual([1, 2, 3]));
    renameSync(join(logDir, 'db.log'), join(logDir, 'db.log.1'));
    writeFileSync(join(logDir, 'db.log'), line(4));
    await eventually(() => expect(first.numbers()).toEqual([1, 2, 3, 4]));
    expect(first.items().map(({ type }) => type)).toContain('rotated');
    for (const item of first.items()) expect(schemaProblems(item, 'ClusterFollowItem')).toEqual([]);

    const resumed = await follow(port, 'family=db.log&back=3', { 'last-event-id': first.ids()[1] });
    await eventually(() => expect(resumed.numbers()).toEqual([3, 4]));
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
});
