import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Condition } from '../../condition.ts';
import { CHECK_BYTES, encodeMark, fnv1a } from '../../cursor/cursor.ts';
import { markFile } from '../../cursor/file-mark.ts';
import { RecordRing } from './record-ring.ts';
import { CursorMaker, type EventEntry } from './ring-entry.ts';

const entry = (file: string): EventEntry => ({ kind: 'event', event: { type: 'truncated', file, lostBytes: null } });

test('holds the newest entries within its limit, under increasing sequence numbers', () => {
  const ring = new RecordRing({ limitBytes: () => 10 * 256 });
  for (let number = 0; number < 10_000; number++) ring.push(entry(String(number)));
  expect(ring.nextSeq).toBe(10_000);
  expect(ring.firstSeq).toBe(9990);
  expect(ring.costBytes).toBe(10 * 256);
  expect(ring.at(9989)).toBeUndefined();
  expect(ring.at(9990)).toEqual(entry('9990'));
  expect(ring.at(9999)).toEqual(entry('9999'));
  expect(ring.at(10_000)).toBeUndefined();
});

test('the newest entry stays, however small the limit', () => {
  const ring = new RecordRing({ limitBytes: () => 0 });
  ring.push(entry('a'));
  ring.push(entry('b'));
  expect(ring.firstSeq).toBe(1);
  expect(ring.at(1)).toEqual(entry('b'));
});

test('a smaller limit takes effect with the next trim', () => {
  let limit = 1_000_000;
  const ring = new RecordRing({ limitBytes: () => limit });
  for (let number = 0; number < 100; number++) ring.push(entry(String(number)));
  expect(ring.firstSeq).toBe(0);
  limit = 2560;
  ring.trim();
  expect(ring.firstSeq).toBe(90);
});

test('finds the newest entry that satisfies the predicate', () => {
  const ring = new RecordRing({ limitBytes: () => 1_000_000 });
  for (const name of ['a', 'b', 'a', 'c']) ring.push(entry(name));
  expect(ring.findLast((found) => found.kind === 'event' && JSON.stringify(found).includes('"a"'))).toBe(2);
  expect(ring.findLast(({ kind }) => kind === 'record')).toBeUndefined();
});

test('notifies its listeners until they are removed', async () => {
  const changed = new Condition();
  const ring = new RecordRing({ limitBytes: () => 1000 });
  ring.addListener(changed);
  ring.notify();
  ring.notify();
  await changed.wait();
  let woken = false;
  const waiting = changed.wait().then(() => {
    woken = true;
  });
  await Promise.resolve();
  expect(woken).toBe(false);
  ring.notify();
  await waiting;
  ring.removeListener(changed);
  expect(woken).toBe(true);
});

test('CursorMaker encodes the same cursors as encodeMark', () => {
  const bytes = fc.uint8Array({ maxLength: 100 });
  fc.assert(
    fc.property(bytes, fc.string({ minLength: 1, maxLength: 40 }), fc.nat(), bytes, (head, file, offset, record) => {
      const mark = markFile(head);
      const checkBytes = Math.min(CHECK_BYTES, record.length);
      const check = fnv1a(record, 0, checkBytes);
      const made = new CursorMaker(mark, file).at(offset, Buffer.from(record));
      expect(made).toBe(encodeMark({ ...mark, file, offset, check, checkBytes }));
    }),
  );
});
