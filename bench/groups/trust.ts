import { once, setMaxListeners } from 'node:events';
import { linkSync, writeFileSync } from 'node:fs';
import { Agent, get, type RequestOptions } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SLOW_REGEX, slowText } from '../../packages/logs/src/testing/slow-regex.ts';
import { createToken } from '../../packages/server/src/auth/tokens.ts';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { atLeast, below, type Row } from '../group.ts';
import { ensureLogFolder } from '../input-files.ts';
import { type PortholeServer, startPorthole } from '../porthole.ts';
import { residentBytes } from '../process-usage.ts';
import { compareLoads, showNumber } from '../rounds.ts';

const IDLE_CONNECTIONS = 10_000;
const MOST_IDLE_MB = 150;
const MB = 1_000_000;

/** Less than the system lets wait for being accepted. */
const AT_ONCE = 100;

/** What a token may cost: a request with one, of the rate without. */
const LEAST_RATIO = 0.95;
const CONNECTIONS = 16;
const VIEWS = [
  { label: '4 KiB', sizeBytes: 4 * 1024 },
  { label: '256 KiB', sizeBytes: 256 * 1024 },
];

const REQUEST = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** What it costs to be exposed: connections that nobody uses, asking everybody who they are, and attacks. */
export const trustGroup: Group = {
  name: 'trust',
  needs: ['wrk'],
  run: async (context) => [await idleRow(context), ...(await tokenRows(context)), ...(await attackRows(context))],
};

/** Each has asked once; then nothing happens on it. */
async function idleRow(context: BenchContext): Promise<Row> {
  context.log(`  ${IDLE_CONNECTIONS} idle connections`);
  const { dir } = await ensureLogFolder(context);
  // Longer than opening them takes.
  const server = await startPorthole(context, dir, ['--http-stall-timeout', '10m']);
  const sockets: Socket[] = [];
  context.cleanup.add(() => closeAll(sockets));
  const port = Number(new URL(server.url).port);
  sockets.push(...(await openSome(port))); // the code is loaded and compiled
  const before = residentBytes(server.pid);
  while (sockets.length < IDLE_CONNECTIONS + AT_ONCE) sockets.push(...(await openSome(port)));
  const addedMb = (residentBytes(server.pid) - before) / MB;
  const open = sockets.filter(({ destroyed }) => !destroyed).length;
  if (open !== sockets.length) throw new Error(`only ${open} of ${sockets.length} connections are open`);
  closeAll(sockets);
  await server.stop();
  return {
    figure: `${IDLE_CONNECTIONS} idle connections: resident memory they add, MB`,
    porthole: showNumber(addedMb),
    against: `before ${showNumber(before / MB)}`,
    bar: below(addedMb, MOST_IDLE_MB, 'MB'),
  };
}

function openSome(port: number): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(REQUEST);
      await once(socket, 'data');
      return socket;
    }),
  );
}

function closeAll(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

/** The same view of two nodes, of which one asks for a token. */
async function tokenRows(context: BenchContext): Promise<Row[]> {
  const { dir, file } = await ensureLogFolder(context);
  const { token, line } = createToken('bench');
  const tokenFile = join(context.tempDir(), 'tokens');
  writeFileSync(tokenFile, `${line}\n`);
  const [guarded, open] = [
    await startPorthole(context, dir, ['--auth-token-file', tokenFile]),
    await startPorthole(context, dir),
  ];
  const rows: Row[] = [];
  for (const { label, sizeBytes } of VIEWS) {
    context.log(`  view ${label} with a token`);
    const path = `/api/v1/log/view?file=${file}&size=${sizeBytes}`;
    const ours = { url: `${guarded.url}${path}`, connections: CONNECTIONS, header: `Authorization: Bearer ${token}` };
    const theirs = { url: `${open.url}${path}`, connections: CONNECTIONS };
    const result = await compareLoads(context, { ours, theirs }, ({ requestsPerSecond }) => requestsPerSecond);
    rows.push({
      figure: `view ${label} with a token, requests/s`,
      porthole: showNumber(result.ours),
      against: `without ${showNumber(result.theirs)}`,
      ratio: result.ratio,
      rounds: result.rounds,
      bar: atLeast(result.ratio, LEAST_RATIO),
    });
  }
  await Promise.all([guarded.stop(), open.stop()]);
  return rows;
}

const HEALTH_EVERY_MS = 10;
const MOST_HEALTH_MS = 1000;

/** Not the address that attacks come from: what is counted by address is not this. */
const HEALTH_FROM = '127.0.0.2';

const FOLLOWS = 200;

const FILES = 100_000;

const HEAD = '2026-11-15 05:00:00.000\tINFO\ta.go:1\t';

/** How a node fares while someone tries to keep it from serving others: whether its health is answered all the while. */
async function attackRows(context: BenchContext): Promise<Row[]> {
  return [...(await regexRows(context)), ...(await streamRows(context)), ...(await fileRows(context))];
}

async function regexRows(context: BenchContext): Promise<Row[]> {
  context.log('  searches with a regex that takes long');
  const dir = context.tempDir();
  const text = slowText(6000);
  const lines = Array.from({ length: 4000 }, (_, n) => `${HEAD}${text.slice(n, n + 2000)}Q\n`);
  writeFileSync(join(dir, 'slow.log'), lines.join(''));
  writeFileSync(join(dir, 'plain.log'), `${HEAD}needle\n`);
  const server = await startPorthole(context, dir);
  const slow = `/api/v1/log/search?file=slow.log&regex=${encodeURIComponent(`${SLOW_REGEX}$`)}&case=sensitive`;
  const plainMs: number[] = [];
  const health = await healthDuring(server, async () => {
    const leaving = new AbortController();
    const attacks = Array.from({ length: 3 }, () => send(server, slow, { signal: leaving.signal }));
    await delay(1000);
    for (let turn = 0; turn < 10; turn++) {
      const startedMs = performance.now();
      await send(server, '/api/v1/log/search?file=plain.log&q=needle&budget=1s');
      plainMs.push(performance.now() - startedMs);
    }
    leaving.abort();
    await Promise.all(attacks);
  });
  await server.stop();
  const longestMs = Math.max(...plainMs);
  return [
    healthRow('3 searches with a slow regex', health),
    {
      figure: 'plain search during 3 with a slow regex: longest of 10, ms',
      porthole: showNumber(longestMs),
      bar: below(longestMs, 3000, 'ms'),
    },
  ];
}

async function streamRows(context: BenchContext): Promise<Row[]> {
  context.log('  follows without end');
  const dir = context.tempDir();
  writeFileSync(join(dir, 'a.log'), `${HEAD}text\n`);
  const server = await startPorthole(context, dir, ['--http-max-streams-per-client', '0']);
  let statuses: number[] = [];
  const health = await healthDuring(server, async () => {
    const leaving = new AbortController();
    // One listener for each request that it aborts.
    setMaxListeners(FOLLOWS, leaving.signal);
    const follows = Array.from({ length: FOLLOWS }, () =>
      send(server, '/api/v1/log/follow', { signal: leaving.signal }),
    );
    await delay(2000);
    const views = Array.from({ length: 20 }, () =>
      send(server, '/api/v1/log/view?file=a.log', { localAddress: HEALTH_FROM }),
    );
    statuses = await Promise.all(views);
    leaving.abort();
    await Promise.all(follows);
  });
  await server.stop();
  const served = statuses.filter((status) => status === 200).length;
  return [
    healthRow(`${FOLLOWS} follows of one address`, health),
    {
      figure: 'views of another address served meanwhile, of 20',
      porthole: String(served),
      bar: { text: '= 20', met: served === 20 },
    },
  ];
}

async function fileRows(context: BenchContext): Promise<Row[]> {
  context.log(`  a directory of ${FILES} files`);
  const dir = context.tempDir();
  fillWithLinks(dir, FILES);
  const server = await startPorthole(context, dir);
  await send(server, '/api/v1/log/view?file=service-1.log');
  const names = await healthDuring(server, async () => {
    const wrong = Array.from({ length: 100 }, (_, n) => `/api/v1/log/view?file=servce-123${n}.log`);
    await Promise.all(wrong.map((path) => send(server, path)));
  });
  const files = await healthDuring(server, async () => {
    await send(server, '/api/v1/log/files');
  });
  const shared = await healthDuring(server, async () => {
    await Promise.all(Array.from({ length: 10 }, () => send(server, '/api/v1/log/files')));
  });
  await server.stop();
  return [
    healthRow(`100 wrong names among ${FILES} files`, names),
    healthRow(`the files of ${FILES}`, files),
    healthRow(`the files of ${FILES}, asked for by 10 at once`, shared),
  ];
}

interface Health {
  p99Ms: number;
  longestMs: number;
  requests: number;
}

function healthRow(attack: string, { p99Ms, longestMs, requests: asked }: Health): Row {
  return {
    figure: `health during ${attack}: p99, ms`,
    porthole: showNumber(p99Ms),
    against: `longest ${showNumber(longestMs)}, of ${asked}`,
    bar: below(p99Ms, MOST_HEALTH_MS, 'ms'),
  };
}

/** Asks for the health over and over, on a connection of its own, while the attack runs. */
async function healthDuring(server: PortholeServer, attack: () => Promise<void>): Promise<Health> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const tookMs: number[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const startedMs = performance.now();
      await send(server, '/health/live', { agent, localAddress: HEALTH_FROM });
      tookMs.push(performance.now() - startedMs);
      await delay(HEALTH_EVERY_MS);
    }
  })();
  await attack();
  isOver = true;
  await watching;
  agent.destroy();
  tookMs.sort((a, b) => a - b);
  const at = (share: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))] ?? Number.NaN;
  return { p99Ms: at(0.99), longestMs: at(1), requests: tookMs.length };
}

/** The status, when the response has been read to its end; 0 where it was not. */
function send({ url }: PortholeServer, path: string, options: RequestOptions = {}): Promise<number> {
  return new Promise((resolve) => {
    const request = get(`${url}${path}`, { agent: false, ...options }, (response) => {
      response.on('error', () => resolve(0));
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.resume();
    });
    request.on('error', () => resolve(0));
  });
}

/** Names of few files: they are made in a tenth of the time. One can have 65,000 at most. */
function fillWithLinks(dir: string, names: number): void {
  for (let made = 1; made <= names; made++) {
    const first = made - (made % 10_000) || 1;
    const path = join(dir, `service-${made}.log`);
    if (made === first) writeFileSync(path, `${HEAD}line of ${made}\n`);
    else linkSync(join(dir, `service-${first}.log`), path);
  }
}
