import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { startCuttingProxy } from '@porthole/client/testing';
import { eventually } from '@porthole/logs/testing';
import { IS_LONG_RUN, runs, tempDir } from '@porthole/records/testing';
import { freePorts } from '@porthole/server/testing';
import { expect, test } from 'vitest';
import { FollowingClient, followByCli, followByEvents, followBySdk } from './testing/following-clients.ts';
import { Program } from './testing/program.ts';
import { RotatedLogs } from './testing/rotated-logs.ts';

const ROUNDS = runs(6);
const ROUND_MS = 1200;

/** Lines a second, in each log. */
const RATE = 20;

/** After this much, the connection is cut, again and again. */
const CUT_BYTES = 1_000_000;

function serveLogs(cwd: string, port: number): Program {
  const flags = ['--http-port', String(port), '--grpc-port', '0', '--log-dir', 'logs', '--follow-buffer', '64KiB'];
  return new Program(['serve', ...flags], { cwd });
}

test('whatever logrotate does, every client gets every line that is on disk once, and a gap for others', async () => {
  const cwd = tempDir();
  const logs = new RotatedLogs(cwd);
  const [port = 0] = await freePorts(1);
  let node = serveLogs(cwd, port);
  const url = await node.ready();
  const proxy = await startCuttingProxy(port, () => CUT_BYTES);
  const stop = new AbortController();
  const { signal } = stop;
  setMaxListeners(100, signal);
  const clients: FollowingClient[] = [];
  const client = (name: string, names = logs.names) => {
    const made = new FollowingClient(name, names);
    clients.push(made);
    return made;
  };
  const start = { timeMs: 0 } as const;
  let isSlow = true;
  const running = [
    ...logs.names.map((name) =>
      followBySdk(url, { family: name, start }, { client: client(`SDK ${name}`, [name]), signal }),
    ),
    followBySdk(proxy.url, { start }, { client: client('SDK all, cut'), signal }),
    followBySdk(
      url,
      { start },
      {
        client: client('SDK all, slow'),
        signal,
        pause: async () => {
          // pause: the slowness of a client
          if (isSlow) await delay(2000, undefined, { signal }).catch(() => {});
        },
      },
    ),
    followByEvents(url, { client: client('events'), signal }),
  ];
  const programs = [
    followByCli(url, [], { client: client('CLI all'), cwd }),
    // With rotated files: what a busy node has not read of the live file when it is truncated is only in the copy.
    followByCli(url, ['--rotated', ...logs.names], { client: client('CLI names'), cwd }),
  ];

  await logs.write(RATE);
  // What was never read before a file is truncated is no line that a follow lost.
  await eventually(() =>
    expect(clients.every(({ ledgers }) => [...ledgers.values()].every(({ last }) => last > 0))).toBe(true),
  );
  for (let round = 1; round <= ROUNDS; round++) {
    await delay(ROUND_MS); // pause: the interval of rotations
    if (round % 6 === 0) {
      node.kill('SIGTERM');
      await node.end();
      await logs.rotate();
      // The last file that the clients got is deleted, where one is kept, and the one after it is all that is left.
      await delay(ROUND_MS); // pause: the interval of rotations
      await logs.rotate();
      node = serveLogs(cwd, port);
      await node.ready();
    } else {
      await logs.rotate();
    }
    isSlow = round < ROUNDS - 3;
  }
  const written = await logs.stop();
  const isDone = ({ failure, ledgers }: FollowingClient) =>
    failure !== undefined || [...ledgers].every(([name, { last }]) => last === written[name]);
  // Whoever does not get there is reported below, with all others.
  await eventually(() => expect(clients.every(isDone)).toBe(true), { withinMs: 60_000 }).catch(() => {});
  stop.abort();
  for (const program of programs) program.kill('SIGTERM');
  await Promise.all(running);

  const faults: string[] = [];
  for (const each of clients) {
    if (each.failure !== undefined) faults.push(`${each.name}: ${String(each.failure)}`);
    for (const [name, ledger] of each.ledgers) {
      if (ledger.last !== written[name])
        faults.push(`${each.name}: ${name} ends at ${ledger.last} of ${written[name]}`);
      for (const fault of ledger.faults(logs.onDisk(name))) faults.push(`${each.name}: ${name} ${fault}`);
    }
  }
  const summary = clients.map((each) => {
    const all = [...each.ledgers.values()];
    const sum = (of: (ledger: (typeof all)[number]) => number) => all.reduce((total, ledger) => total + of(ledger), 0);
    const lost = sum(({ missing }) => missing.reduce((total, { from, to }) => total + to - from + 1, 0));
    return {
      client: each.name,
      lines: sum(({ count }) => count),
      lost,
      reports: sum(({ reports }) => reports),
      reconnects: each.reconnects,
    };
  });
  if (IS_LONG_RUN) console.table(summary);
  expect(faults, `${faults.length} faults after ${logs.rotations} rotations`).toEqual([]);
});
