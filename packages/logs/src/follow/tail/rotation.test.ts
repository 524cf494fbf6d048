import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import { isSystemError } from '../../log-error.ts';
import { listFiles } from '../../read/list.ts';
import { eventually } from '../../testing/eventually.ts';
import { openBelow } from '../../testing/temp-dir.ts';
import type { FollowItem } from '../../types.ts';
import type { FollowHubDeps } from '../follow-hub.ts';
import { type Collected, collectFollow, openHub } from '../testing/open-hub.ts';

let clock = Date.UTC(2026, 10, 15, 10);

/** A numbered line; each is a millisecond younger than the one before. */
function line(number: number): string {
  clock++;
  const time = new Date(clock).toISOString().replace('T', ' ').replace('Z', '');
  return `${time}\tINFO\tbroker/runtime.go:172\t[x]: number ${number}\n`;
}

function lines(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => line(from + index)).join('');
}

const numbersIn = (texts: readonly string[]) =>
  texts.flatMap((text) => Array.from(text.matchAll(/number (\d+)/g), ([, number]) => Number(number)));
const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const eventTypes = ({ items }: Collected) => items.map(({ type }) => type).filter((type) => type !== 'record');

interface Scene {
  dir: string;
  path: string;
  follow: Collected;
  /** Waits until exactly these numbers were emitted, in order. */
  expectNumbers(numbers: number[]): Promise<void>;
}

/** Follows `app.log`, which has 20 lines. Long polls and no events: synchronous changes are seen by one poll. */
async function scene(options: Partial<FollowHubDeps> = {}): Promise<Scene> {
  const dir = tempDir();
  const path = join(dir, 'app.log');
  writeFileSync(path, lines(1, 20));
  const hub = openHub(dir, { events: false, pollMs: 40, ...options });
  const follow = collectFollow(hub, { src: ['=app.log'] });
  await follow.ready;
  const expectNumbers = (numbers: number[]) => eventually(() => expect(numbersIn(follow.texts)).toEqual(numbers));
  appendFileSync(path, lines(21, 30));
  await expectNumbers(upTo(21, 30));
  return { dir, path, follow, expectNumbers };
}

test('rename: the rest of the old file, then the event, then the new one', async () => {
  const { path, follow, expectNumbers } = await scene();
  appendFileSync(path, lines(31, 35));
  renameSync(path, `${path}.1`);
  writeFileSync(path, lines(36, 40));
  await expectNumbers(upTo(21, 40));
  const at = follow.items.findIndex(({ type }) => type === 'rotated');
  expect(follow.items[at]).toEqual({ type: 'rotated', family: 'app.log', from: 'app.log.1', to: 'app.log' });
  expect(numbersIn(follow.items.slice(0, at).map((item) => ('raw' in item ? (item.raw ?? '') : '')))).toEqual(
    upTo(21, 35),
  );
  expect(eventTypes(follow)).toEqual(['rotated']);
});

test('lines that the writer appends to the renamed file are emitted before those of the new one', async () => {
  const { path, expectNumbers } = await scene();
  renameSync(path, `${path}.1`);
  writeFileSync(path, '');
  appendFileSync(`${path}.1`, lines(31, 33));
  await expectNumbers(upTo(21, 33));
  appendFileSync(`${path}.1`, lines(34, 35));
  appendFileSync(path, lines(36, 37));
  await expectNumbers(upTo(21, 37));
  appendFileSync(`${path}.1`, lines(38, 39));
  await expectNumbers(upTo(21, 39));
});

test('several rotations between two polls: the files in between are read in order', async () => {
  const { path, follow, expectNumbers } = await scene();
  const rotate = () => {
    for (const number of [4, 3, 2, 1]) {
      try {
        renameSync(`${path}.${number}`, `${path}.${number + 1}`);
      } catch (error) {
        if (!isSystemError(error)) throw error;
        // Does not exist yet.
      }
    }
    renameSync(path, `${path}.1`);
  };
  for (let turn = 0; turn < 3; turn++) {
    appendFileSync(path, lines(31 + turn * 10, 40 + turn * 10));
    rotate();
  }
  writeFileSync(path, lines(61, 65));
  await expectNumbers(upTo(21, 65));
  expect(eventTypes(follow)).toEqual(['rotated', 'rotated', 'rotated']);
});

test('files in between that were compressed already are unpacked', async () => {
  const { path, expectNumbers } = await scene();
  appendFileSync(path, lines(31, 40));
  renameSync(path, `${path}.3`);
  writeFileSync(`${path}.2.gz`, gzipSync(lines(41, 50)));
  writeFileSync(`${path}.1`, lines(51, 60));
  writeFileSync(path, lines(61, 65));
  await expectNumbers(upTo(21, 65));
});

test('a file that was renamed and compressed is not emitted again from its archive', async () => {
  const { path, follow, expectNumbers } = await scene();
  const archive = (name: string, text: string) => {
    writeFileSync(`${path}.${name}`, gzipSync(text));
  };
  const rest = lines(31, 40);
  appendFileSync(path, rest);
  const { readFileSync } = await import('node:fs');
  const whole = readFileSync(path, 'utf8');
  rmSync(path);
  archive('1.gz', whole);
  writeFileSync(path, lines(41, 45));
  await expectNumbers(upTo(21, 45));
  renameSync(`${path}.1.gz`, `${path}.2.gz`);
  const second = readFileSync(path, 'utf8');
  rmSync(path);
  archive('1.gz', second);
  writeFileSync(path, lines(46, 50));
  await expectNumbers(upTo(21, 50));
  expect(eventTypes(follow)).toEqual(['rotated', 'rotated']);
});

test('delete and re-create: the deleted file is drained', async () => {
  const { path, follow, expectNumbers } = await scene();
  appendFileSync(path, lines(31, 35));
  rmSync(path);
  writeFileSync(path, lines(36, 40));
  await expectNumbers(upTo(21, 40));
  expect(eventTypes(follow)).toEqual(['rotated']);
});

test('copy-truncate: the rest is read from the copy, and a gap is reported', async () => {
  const { path, follow, expectNumbers } = await scene();
  appendFileSync(path, lines(31, 35));
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
  appendFileSync(path, lines(36, 38));
  await expectNumbers(upTo(21, 38));
  expect(eventTypes(follow)).toEqual(['truncated', 'gap']);
  const gap = follow.items.find(({ type }) => type === 'gap');
  expect(gap).toMatchObject({ family: 'app.log', reason: 'truncated', bytes: null, until: null });
  const files = follow.items.flatMap((item) => (item.type === 'record' ? [item.file] : []));
  expect(files.slice(-8)).toEqual([...Array(5).fill('app.log.1'), ...Array(3).fill('app.log')]);
});

test('copy-truncate: the rest is read from a copy that was compressed at once', async () => {
  const { path, expectNumbers } = await scene();
  appendFileSync(path, lines(31, 35));
  const { readFileSync } = await import('node:fs');
  writeFileSync(`${path}.1.gz`, gzipSync(readFileSync(path)));
  truncateSync(path, 0);
  appendFileSync(path, lines(36, 38));
  await expectNumbers(upTo(21, 38));
});

test('two truncations between two polls: both copies are read', async () => {
  const { path, follow, expectNumbers } = await scene();
  appendFileSync(path, lines(31, 35));
  copyFileSync(path, `${path}.2`);
  truncateSync(path, 0);
  appendFileSync(path, lines(36, 40));
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
  appendFileSync(path, lines(41, 45));
  await expectNumbers(upTo(21, 45));
  expect(eventTypes(follow)).toEqual(['truncated', 'gap', 'truncated', 'gap']);
});

test('a file that was truncated and has grown beyond the position again is noticed', async () => {
  const { path, follow, expectNumbers } = await scene();
  truncateSync(path, 0);
  appendFileSync(path, lines(101, 200));
  await expectNumbers([...upTo(21, 30), ...upTo(101, 200)]);
  expect(eventTypes(follow)).toEqual(['truncated', 'gap']);
});

test('a file that was truncated and has grown to the very same size is noticed', async () => {
  const { path, expectNumbers } = await scene();
  truncateSync(path, 0);
  appendFileSync(path, lines(41, 70));
  appendFileSync(path, lines(71, 71));
  await expectNumbers([...upTo(21, 30), ...upTo(41, 71)]);
});

test('a deleted directory is reported once, and the follow continues when it is created again', async () => {
  const { dir, path, follow, expectNumbers } = await scene({ events: true });
  rmSync(dir, { recursive: true });
  await eventually(() => expect(eventTypes(follow)).toEqual(['missing']));
  mkdirSync(dir);
  writeFileSync(path, lines(31, 35));
  await expectNumbers(upTo(21, 35));
  appendFileSync(path, lines(36, 40));
  await expectNumbers(upTo(21, 40));
  expect(eventTypes(follow)).toEqual(['missing', 'rotated']);
});

test('a directory that is moved away and back continues where it was', async () => {
  const { dir, path, follow, expectNumbers } = await scene({ times: { lingerMs: 100, missingMs: 50 } });
  renameSync(dir, `${dir}.away`);
  await eventually(() => expect(eventTypes(follow)).toEqual(['missing']));
  await eventually(() => expect(openBelow(`${dir}.away`)).toBe(0));
  appendFileSync(join(`${dir}.away`, 'app.log'), lines(31, 35));
  renameSync(`${dir}.away`, dir);
  appendFileSync(path, lines(36, 40));
  await expectNumbers(upTo(21, 40));
  expect(eventTypes(follow)).toEqual(['missing']);
});

test('descriptors of rotated files are released some time after the rotation', async () => {
  const { dir, path, expectNumbers } = await scene({ times: { lingerMs: 100 } });
  renameSync(path, `${path}.1`);
  writeFileSync(path, lines(31, 35));
  await expectNumbers(upTo(21, 35));
  await eventually(() => expect(openBelow(dir)).toBe(1));
});

test('a new file that reuses an inode number is not taken for the old one', async () => {
  const { path, expectNumbers } = await scene();
  let next = 31;
  // Most file systems reuse the inode number when a file is deleted and another one created.
  for (let turn = 0; turn < 5; turn++) {
    appendFileSync(path, lines(next, next + 4));
    rmSync(`${path}.2`, { force: true });
    if (turn > 0) renameSync(`${path}.1`, `${path}.2`);
    renameSync(path, `${path}.1`);
    writeFileSync(path, lines(next + 5, next + 9));
    next += 10;
    await expectNumbers(upTo(21, next - 1));
  }
});

test('every record has its own cursor', async () => {
  const { path, follow, expectNumbers } = await scene();
  renameSync(path, `${path}.1`);
  writeFileSync(path, lines(31, 32));
  await expectNumbers(upTo(21, 32));
  const cursors = follow.items.flatMap((item: FollowItem) => (item.type === 'record' ? item.cursor : []));
  expect(new Set(cursors).size).toBe(12);
});

test('a text that was truncated again before any of it was read is read from its copy', async () => {
  const { path, follow, expectNumbers } = await scene();
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
  await eventually(() => expect(eventTypes(follow)).toEqual(['truncated', 'gap']));
  appendFileSync(path, lines(31, 35));
  renameSync(`${path}.1`, `${path}.2`);
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
  appendFileSync(path, lines(36, 38));
  await expectNumbers(upTo(21, 38));
  expect(eventTypes(follow)).toEqual(['truncated', 'gap', 'truncated', 'gap']);
});

test('a copy of the current text, made before the truncation was noticed, is not read twice', async () => {
  const { path, expectNumbers } = await scene();
  appendFileSync(path, lines(31, 35));
  copyFileSync(path, `${path}.2`);
  truncateSync(path, 0);
  appendFileSync(path, lines(36, 40));
  copyFileSync(path, `${path}.1`);
  await expectNumbers(upTo(21, 40));
  truncateSync(path, 0);
  appendFileSync(path, lines(41, 45));
  await expectNumbers(upTo(21, 45));
});

test('copy-truncate of a writer that does not append: every file starts with a hole, and no file is taken for another', async () => {
  const { path, follow, expectNumbers } = await scene();
  const fd = openSync(path, 'r+');
  onTestFinished(() => closeSync(fd));
  let position = statSync(path).size;
  const write = (text: string) => {
    position += writeSync(fd, text, position);
  };
  let copies = 0;
  const rotate = () => {
    for (let number = copies++; number > 0; number--) renameSync(`${path}.${number}`, `${path}.${number + 1}`);
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  };
  for (let turn = 1; turn <= 4; turn++) {
    write(lines(90 * turn - 59, 90 * turn - 30));
    rotate();
    write(lines(90 * turn - 29, 90 * turn));
    rotate();
    write(lines(90 * turn + 1, 90 * turn + 30));
    await expectNumbers(upTo(21, 90 * turn + 30));
  }
  expect(eventTypes(follow)).toEqual(Array.from({ length: 8 }, () => ['truncated', 'gap']).flat());
});

test('a defect fails the follow with its error instead of being taken for a missing file', async () => {
  const dir = tempDir();
  const path = join(dir, 'app.log');
  writeFileSync(path, lines(1, 5));
  let defect: Error | undefined;
  const list = async () => {
    if (defect) throw defect;
    return listFiles(dir);
  };
  const hub = openHub(dir, { list });
  const follow = collectFollow(hub, { src: ['app.log'] });
  await follow.ready;
  appendFileSync(path, lines(6, 10));
  defect = new TypeError('list is not a function');
  renameSync(path, `${path}.1`);
  writeFileSync(path, lines(11, 15));
  await expect(follow.done).rejects.toBe(defect);
  expect(eventTypes(follow)).toEqual([]);
  defect = undefined;
  const again = collectFollow(hub, { src: ['app.log'], start: { back: 1 } });
  await eventually(() => expect(numbersIn(again.texts)).toEqual([15]));
  appendFileSync(path, lines(16, 16));
  await eventually(() => expect(numbersIn(again.texts)).toEqual([15, 16]));
});
