import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { collectFollow, onlyRecords, openHub } from './testing/open-hub.ts';

const LINE = '2026-11-15 10:00:00.000\tERROR\ta/b.go:1\tone';

async function scene(options: Parameters<typeof openHub>[1] = {}, text = `${LINE}\n`) {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, text);
  const follow = collectFollow(openHub(dir, options), { src: ['=a.log'] });
  await follow.ready;
  return { path, follow };
}

test('an incomplete line is buffered until its newline', async () => {
  const { path, follow } = await scene({ times: { idleMs: 60_000 } });
  appendFileSync(path, `${LINE} first\n${LINE} sec`);
  await eventually(() => expect(follow.texts).toEqual([`${LINE} first`]));
  appendFileSync(path, `ond\n`);
  await eventually(() => expect(follow.texts).toEqual([`${LINE} first`, `${LINE} second`]));
  await follow.stop();
});

test('a line that stays incomplete is emitted as unfinished, and its rest continues it', async () => {
  const { path, follow } = await scene({ times: { idleMs: 50 } });
  appendFileSync(path, `${LINE} half`);
  await eventually(() => expect(onlyRecords(follow.items)).toMatchObject([{ unfinished: true, message: 'one half' }]));
  appendFileSync(path, ' and half\n');
  await eventually(() => expect(onlyRecords(follow.items)).toHaveLength(2));
  const [half, rest] = onlyRecords(follow.items);
  expect(rest).toMatchObject({ continued: true, raw: ' and half', offset: (half?.offset ?? 0) + (half?.bytes ?? 0) });
  expect(rest).not.toHaveProperty('unfinished');
  await follow.stop();
});

test('a line that was incomplete when the follow began is emitted whole', async () => {
  const { path, follow } = await scene({}, `${LINE}\n${LINE} half`);
  appendFileSync(path, ' and half\n');
  await eventually(() => expect(follow.texts).toEqual([`${LINE} half and half`]));
  await follow.stop();
});

test('late continuation lines are emitted as continued, if their record matched', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, `${LINE}\n`);
  const hub = openHub(dir);
  const errors = collectFollow(hub, { src: ['=a.log'], minLevel: 'ERROR' });
  const others = collectFollow(hub, { src: ['=a.log'], excluded: ['one'] });
  await Promise.all([errors.ready, others.ready]);
  appendFileSync(path, `${LINE}\n`);
  await eventually(() => expect(errors.texts).toEqual([LINE]));
  appendFileSync(path, '\tat a\n\tat b\n');
  await eventually(() => expect(errors.texts).toEqual([LINE, '\tat a\n\tat b']));
  expect(onlyRecords(errors.items)[1]).toMatchObject({ continued: true });
  expect(others.texts).toEqual([]);
  await Promise.all([errors.stop(), others.stop()]);
});

test('emits lines that end in CRLF', async () => {
  const { path, follow } = await scene({}, `${LINE}\r\n`);
  appendFileSync(path, `${LINE} a\r\n${LINE} b\r\n`);
  await eventually(() => expect(follow.texts).toEqual([`${LINE} a`, `${LINE} b`]));
  expect(onlyRecords(follow.items).map(({ message }) => message)).toEqual(['one a', 'one b']);
  await follow.stop();
});

test('a long record is cut, and a very long line is split', async () => {
  const { path, follow } = await scene();
  const long = 'x'.repeat(700_000);
  appendFileSync(path, `${LINE}${long}\n`);
  await eventually(() =>
    expect(onlyRecords(follow.items).reduce((sum, { bytes }) => sum + bytes, 0)).toBe(LINE.length + 700_001),
  );
  const [first, ...rest] = onlyRecords(follow.items);
  expect(first).toMatchObject({ cut: true, unfinished: true });
  expect(first).not.toHaveProperty('continued');
  expect(rest.every(({ continued }) => continued)).toBe(true);
  expect(first?.raw?.length).toBeLessThanOrEqual(64 * 1024);
  await follow.stop();
});

test('a burst far larger than the ring reaches a follower that keeps up without a gap', async () => {
  const { path, follow } = await scene({ bufferBytes: 64 * 1024 });
  appendFileSync(path, Array.from({ length: 20_000 }, (_, index) => `${LINE} ${index}\n`).join(''));
  await eventually(() => expect(onlyRecords(follow.items)).toHaveLength(20_000));
  expect(follow.items).toHaveLength(20_000);
  await follow.stop();
});
