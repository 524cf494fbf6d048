/* Keeps rotating the logs that another process writes: by rename, with compression, by copy and truncate. */
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { newestNumber } from './torture-progress.ts';

/** Files kept: three times as many as are rotated before the slowest follower has read the first of them. */
const KEEP = 60;

const [, , dir = '', rotations = '1000', everyMs = '85'] = process.argv;

/** `app.log.1` becomes `app.log.2` and so on; the oldest is dropped. */
function shift(path: string, ending = ''): void {
  rmSync(`${path}.${KEEP}${ending}`, { force: true });
  for (let number = KEEP - 1; number > 0; number--) {
    if (existsSync(`${path}.${number}${ending}`)) {
      renameSync(`${path}.${number}${ending}`, `${path}.${number + 1}${ending}`);
    }
  }
}

/** Returns whether it could be done: the writer must have created a new file since. */
function rename(path: string): boolean {
  if (!existsSync(path)) return false;
  shift(path);
  renameSync(path, `${path}.1`);
  ends.push(lastNumber(`${path}.1`) ?? ends.at(-1) ?? 0);
  return true;
}

function lastNumber(path: string): number | undefined {
  const digits = readFileSync(path, 'utf8').match(/#\d+#/g)?.at(-1);
  return digits === undefined ? undefined : Number(digits.slice(1, -1));
}

function copyTruncate(path: string): boolean {
  shift(path);
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
  return true;
}

/** Like `gzip`: the plain file is deleted when the archive is complete. Only once its writer has left it. */
function compress(path: string): void {
  const plain = `${path}.1`;
  if (!existsSync(plain) || !existsSync(path) || statSync(path).size === 0) return;
  writeFileSync(`${plain}.gz`, gzipSync(readFileSync(plain)));
  rmSync(plain);
}

function gzipRotate(path: string): boolean {
  if (!existsSync(path) || existsSync(`${path}.1`)) return false;
  shift(path, '.gz');
  renameSync(path, `${path}.1`);
  return true;
}

/** The newest number in each file that was renamed. All logs have the same numbers. */
const ends: number[] = [];
const done = { rename: 0, copy: 0, gzip: 0 };
const ways = { rename, copy: copyTruncate, gzip: gzipRotate };
const kinds = ['rename', 'copy', 'gzip'] as const;
writeFileSync(join(dir, 'started'), '');

/** The number up to which every follower has read: on a busy machine they would be outrun, and files deleted unread. */
let seen = 0;
process.stdin.on('data', (chunk) => {
  seen = newestNumber(chunk) ?? seen;
});

async function waitForFollowers(): Promise<void> {
  // pause: between two looks
  while ((ends.at(-KEEP / 3) ?? 0) > seen) await sleep(20);
}

const startedMs = performance.now();
for (let turn = 1; kinds.some((kind) => done[kind] < Number(rotations)); turn++) {
  for (const kind of kinds) if (ways[kind](join(dir, kind, 'app.log'))) done[kind]++;
  await sleep(Number(everyMs) / 2); // pause: the interval of rotations
  compress(join(dir, 'gzip', 'app.log'));
  await waitForFollowers();
  // pause: the interval of rotations
  await sleep(Math.max(0, startedMs + turn * Number(everyMs) - performance.now()));
}
process.stdin.destroy();
process.stdout.write(JSON.stringify(done));
