import { expect, test } from 'vitest';
import { writeRest } from './live-file.ts';
import { type Batch, resumeBatch } from './record-queue.ts';

const SPOT = { dev: 1, ino: 2, size: 100 };

function stoppedBatch(offset: number): Batch {
  return { bytes: Buffer.from('first\nsecond\n'), records: 2, offset, stoppedAt: SPOT };
}

test.each([
  ['goes on where the bytes stopped in the unchanged file', 8, SPOT, true, 8],
  ['writes the cut record again when somebody wrote after it', 8, { ...SPOT, size: 120 }, false, 6],
  ['writes the cut record again in another file', 8, { ...SPOT, ino: 3 }, false, 6],
  ['starts over when even the first record was cut', 3, { ...SPOT, ino: 3 }, false, 0],
  ['goes on with the next record when none was cut', 6, { ...SPOT, ino: 3 }, false, 6],
  ['has nothing to choose before its first byte', 0, SPOT, false, 0],
  ['has nothing to choose after its last', 13, { ...SPOT, ino: 3 }, false, 13],
])('a batch %s', (_, offset, file, continues, expected) => {
  const batch = stoppedBatch(offset);
  expect(resumeBatch(batch, file)).toBe(continues);
  expect(batch.offset).toBe(expected);
});

test('a batch that could not see where it stopped writes the cut record again', () => {
  const batch = { ...stoppedBatch(8), stoppedAt: undefined };
  expect(resumeBatch(batch, SPOT)).toBe(false);
  expect(batch.offset).toBe(6);
});

test('a system that takes a few bytes at a time gets all of them once, in order', async () => {
  const batch: Batch = { bytes: Buffer.from('first\nsecond\n'), records: 2, offset: 2 };
  let taken = '';
  const written = await writeRest(
    {
      write: async (bytes, offset, length) => {
        const bytesWritten = Math.min(3, length);
        taken += Buffer.from(bytes).toString('utf8', offset, offset + bytesWritten);
        return { bytesWritten };
      },
    },
    batch,
  );
  expect([taken, written, batch.offset]).toEqual(['rst\nsecond\n', 11, 13]);
});

test('a system that takes nothing is a failure, not an endless loop', async () => {
  const batch: Batch = { bytes: Buffer.from('x\n'), records: 1, offset: 0 };
  await expect(writeRest({ write: async () => ({ bytesWritten: 0 }) }, batch)).rejects.toThrow('accepted no bytes');
});
