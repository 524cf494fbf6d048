import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createToken } from '../../packages/server/src/auth/tokens.ts';
import { attackRows } from '../attack-rows.ts';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { ensureLogFolder } from '../input-files.ts';
import { startPorthole } from '../porthole.ts';
import { residentBytes } from '../process-usage.ts';
import { compareLoads, showNumber } from '../rounds.ts';
import { atLeast, below, type Row } from '../row.ts';

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
