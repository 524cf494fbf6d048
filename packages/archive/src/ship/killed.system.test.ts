import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { bundleProgram, eventually } from '@porthole/logs/testing';
import { runs, tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { migrate, planMigration } from '../schema/schema.ts';
import { startClickHouse } from '../testing/server.ts';

/** Kills of the node and of the server, half of each; `MORE=25` is 50 of them. */
const KILLS = runs(2);

/** Lines written between two kills, in a few writes. */
const LINES = 2000;

const random = mulberry(Number(process.env.SEED ?? 19));

/** A log that is written and rotated in all ways; nothing is ever deleted. */
class RotatedLog {
  readonly dir = tempDir();
  readonly path = join(this.dir, 'a.log');
  #count = 0;
  #rotated = 0;

  write(lines: number): void {
    let text = '';
    for (let index = 0; index < lines; index++) {
      const number = this.#count++;
      const time = new Date(Date.UTC(2026, 5, 1) + number * 5).toISOString().replace('T', ' ').slice(0, 23);
      text += `${time}\tINFO\ta.go:${number % 99}\tline ${number} "ü"\t{"n":${number}}\n`;
      if (number % 17 === 0) text += '\tat f()\n\tat g()\n';
    }
    // Not at the end of a line.
    const cut = Math.floor(text.length * random());
    appendFileSync(this.path, text.slice(0, cut));
    appendFileSync(this.path, text.slice(cut));
  }

  rotate(): void {
    const kind = Math.floor(3 * random());
    const name = () => `${this.path}.${String(++this.#rotated).padStart(3, '0')}`;
    if (!existsSync(this.path)) return;
    if (kind === 0) renameSync(this.path, name());
    else if (kind === 1) {
      copyFileSync(this.path, name());
      truncateSync(this.path);
    } else this.#compress();
  }

  #compress(): void {
    const plain = readdirSync(this.dir).filter((name) => /^a\.log\.\d+$/.test(name));
    const [oldest] = plain.sort();
    if (!oldest) return;
    const path = join(this.dir, oldest);
    const packed = gzipSync(readFileSync(path));
    writeFileSync(`${path}.gz`, packed.subarray(0, packed.length / 2));
    appendFileSync(`${path}.gz`, packed.subarray(packed.length / 2));
    rmSync(path);
  }

  /** All records, in order: what is in the files. */
  records(): string[] {
    const names = readdirSync(this.dir).sort((a, b) => (a === 'a.log' ? 1 : b === 'a.log' ? -1 : a < b ? -1 : 1));
    const text = names.map((name) => {
      const bytes = readFileSync(join(this.dir, name));
      return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
    });
    return text
      .join('')
      .split(/\n(?=2026)/)
      .map((record) => record.replace(/\n$/, ''));
  }
}

it('every record is in the archive once, however often node and server are killed', async () => {
  const server = await startClickHouse();
  onTestFinished(() => server.stop());
  const clickhouse = server.connect({ database: 'shipped' });
  await migrate(clickhouse, await planMigration(clickhouse, { database: 'shipped' }, 0));
  const log = new RotatedLog();
  const positions = tempDir();
  const program = bundleProgram("import './ship-process.ts';", join(import.meta.dirname, 'testing'));
  const startNode = () => startProgram(program, [server.url, 'shipped', log.dir, positions]);
  let node = await startNode();
  onTestFinished(() => killNode(node));
  for (let kill = 0; kill < KILLS; kill++) {
    for (let part = 0; part < 4; part++) {
      log.write(LINES / 4);
      if (random() < 0.6) log.rotate();
      await delay(60 * random()); // pause: at any moment of its work
    }
    if (kill % 2 === 0) {
      await killNode(node);
      log.write(100);
      log.rotate();
      node = await startNode();
    } else {
      await server.kill();
      log.write(100);
      log.rotate();
      await server.start();
    }
  }
  const expected = log.records();
  const read = (from: string) => `SELECT line FROM ${from} ORDER BY time_ms, file_id, file_offset`;
  await eventually(
    async () => {
      const [row] = await clickhouse.query<{ n: number }>('SELECT count() AS n FROM records FINAL');
      expect(row?.n).toBe(expected.length);
    },
    { withinMs: 60_000 },
  );
  const rows = await clickhouse.query<{ line: string }>(read('records FINAL'), { maxBytes: 256 * 1024 ** 2 });
  expect(checksum(rows.map(({ line }) => line))).toBe(checksum(expected));
  // As readers remove duplicates that the engine has not merged yet.
  const distinct = `SELECT * FROM records ORDER BY shipped_ms DESC LIMIT 1 BY cluster, node, log, time_ms, file_id, file_offset`;
  const [{ n } = { n: 0 }] = await clickhouse.query<{ n: number }>(`SELECT count() AS n FROM (${distinct})`);
  expect(n).toBe(expected.length);
  // What was sent again was sent as it had been: another version of a record has another text.
  const changed = `SELECT uniqExact(shipped_ms) AS versions, uniqExact(line) AS texts FROM records
    GROUP BY cluster, node, log, time_ms, file_id, file_offset HAVING versions > texts`;
  expect(await clickhouse.query(changed)).toEqual([]);
});

async function startProgram(path: string, args: string[]): Promise<ChildProcess> {
  const child = fork(path, args, { execArgv: [] });
  await once(child, 'message');
  return child;
}

async function killNode(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function checksum(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('hex');
}

/** Random numbers by a seed. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
