import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, scaled } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';
import { openMany } from './testing/raw-http.ts';

/** More than all socket buffers of a loopback connection hold. */
const BIG = Buffer.alloc(16 * 1024 * 1024, 'a line of a log file\n');
const FILES = { 'a.log': 'text\n', 'big.log': BIG };

async function canView(node: AttackedNode): Promise<void> {
  expect(await node.request('api/v1/log/view?file=a.log')).toEqual({ status: 200, text: 'text\n' });
}

describe('requests that come byte by byte', () => {
  it.each([
    ['heads', 'GET /api/v1/log/list HTTP/1.1\r\nHost: localhost\r\nX-Slow: '],
    ['bodies', 'POST /api/v1/log/list HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n'],
  ])('in 400 slow %s keep nobody else waiting, and cost little', async (_, begin) => {
    const node = await AttackedNode.start({ files: FILES });
    const [memory, files] = [node.residentMib, node.openFiles];
    const sockets = await openMany(node.port, 400);
    for (const socket of sockets) socket.resume().write(begin);
    for (let round = 0; round < 15; round++) {
      for (const socket of sockets) socket.write('x');
      await canView(node);
      await delay(50); // pause: slowness itself is what is tried
    }
    expect(node.residentMib - memory).toBeLessThan(60);
    for (const socket of sockets) socket.destroy();
    await eventually(() => expect(node.openFiles).toBeLessThan(files + 10));
    await node.expectHealthy();
  });
});

describe('readers that stop reading', () => {
  it('take no more streams than allowed, are cut in numbers, and leave nothing open', async () => {
    const flags = [
      '--http-max-streams',
      '200',
      '--http-max-streams-per-client',
      '200',
      '--http-stall-timeout',
      `${scaled(1000)}ms`,
    ];
    const node = await AttackedNode.start({ files: FILES, flags });
    const [memory, files] = [node.residentMib, node.openFiles];
    const sockets = await openMany(node.port, 300);
    const request = 'GET /api/v1/log/raw?file=big.log HTTP/1.1\r\nHost: localhost\r\n\r\n';
    for (const socket of sockets) socket.pause().write(request);
    await eventually(async () =>
      expect(await node.metric('porthole_http_cut_answers_total{reason="stalled"}')).toBe(200),
    );
    expect(node.residentMib - memory).toBeLessThan(150);
    for (const socket of sockets) socket.destroy();
    await eventually(() => expect(node.openFiles).toBeLessThan(files + 10));
    await canView(node);
    await node.expectHealthy();
  });
});

describe('connections on which nothing happens', () => {
  it('a thousand of them cost little, and nobody else notices', async () => {
    const node = await AttackedNode.start({ files: FILES });
    await canView(node);
    const [memory, files] = [node.residentMib, node.openFiles];
    const sockets = await openMany(node.port, 1000);
    await Promise.all(
      sockets.map(async (socket, number) => {
        if (number % 2 === 0) return; // half of them have asked something once
        socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
        await once(socket, 'data');
      }),
    );
    await canView(node);
    expect(node.openFiles).toBeGreaterThanOrEqual(files + 1000);
    expect(node.residentMib - memory).toBeLessThan(60);
    for (const socket of sockets) socket.destroy();
    await eventually(() => expect(node.openFiles).toBeLessThan(files + 10));
    await node.expectHealthy();
  });
});

describe('a flood of requests', () => {
  it('beyond the limit is refused with 429, and health checks still respond', async () => {
    const perSecond = 50;
    const node = await AttackedNode.start({ files: FILES, flags: ['--http-max-requests-per-second', `${perSecond}`] });
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const url = `${node.url}api/v1/log/view?file=a.log`;
    const startedMs = performance.now();
    const statuses = await Promise.all(Array.from({ length: 3000 }, () => fetchStatus(url, agent)));
    const seconds = (performance.now() - startedMs) / 1000;
    agent.destroy();
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    // A burst of one second, and what the time that they took allows: a busy machine takes longer.
    const served = statuses.filter((status) => status === 200).length;
    expect(served).toBeLessThanOrEqual(perSecond * (1 + seconds) + 1);
    await eventually(() => canView(node)); // the allowance comes back by itself
    await node.expectHealthy();
  });
});

function fetchStatus(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    }).once('error', reject);
  });
}

const LOGS = 1300;
const CLIENTS = 4;
const MAX_OPEN_FILES = 600;

const line = (text: string) => `2026-11-15 10:00:00.000\tINFO\ta/b.go:1\t[x]: ${text}\n`;

it('clients that follow 1,300 logs leave descriptors for connections, and get a report of what they do not follow', async () => {
  const names = Array.from({ length: LOGS }, (_, number) => `service-${number}x.log`);
  const node = await AttackedNode.start({ files: Object.fromEntries(names.map((name) => [name, line('first')])) });
  // programs: prlimit
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
  // Files are opened for a moment to be read.
  await eventually(() => expect(node.openFiles).toBeLessThan(MAX_OPEN_FILES - 256));
  const answers = await Promise.all(Array.from({ length: 100 }, () => node.request('health/live')));
  answers.push(await node.request('api/v1/log/view?file=service-7x.log'));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  leaving.abort();
  await Promise.all(running);
  await node.expectHealthy();
});
