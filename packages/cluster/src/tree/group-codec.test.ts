import { LineKernel } from '@porthole/logs';
import { describe, expect, it } from 'vitest';
import { LineRecord } from '../records/merge/record-lines.ts';
import { recordsAt } from '../testing/fake-node.ts';
import { encodeFrame, FRAME, FrameReader } from './frames.ts';
import { BatchReader, encodeBatch } from './group-codec.ts';
import type { GroupBatch } from './group-search.ts';

const MEMBERS = 3;
const MAX_BYTES = 1e9;

function send(batch: GroupBatch): GroupBatch[] {
  const reader = new BatchReader(MEMBERS, new LineKernel());
  return new FrameReader(MAX_BYTES).read(encodeBatch(batch)).flatMap((frame) => reader.read(frame) ?? []);
}

function toRecords(batches: readonly GroupBatch[]): unknown[] {
  return batches
    .flatMap(({ records }) => records)
    .map((record) => (record instanceof LineRecord ? JSON.parse(record.line.toString()) : record));
}

describe('the records of a group', () => {
  it.each([
    [0, [0]],
    [1, [0, 1]],
    [32, [0, 32]],
    [33, [0, 32, 1]],
    [600, [0, 32, 512, 56]],
  ])('%i of them come in frames, a small one first', (count, sizes) => {
    const times = Array.from({ length: count }, (_, at) => at);
    const members = times.map((at) => at % MEMBERS);
    const records = recordsAt('r', times);
    const batches = send({ progress: [{ member: 1, is: 'answered' }], members, records });
    expect(batches.map((batch) => batch.records.length)).toEqual(sizes);
    expect(batches.flatMap((batch) => batch.members)).toEqual(members);
    expect(toRecords(batches)).toEqual(records);
    expect(batches[0]?.progress).toEqual([{ member: 1, is: 'answered' }]);
  });

  it('are refused if one is invalid, or not of a member', () => {
    const reader = new BatchReader(MEMBERS, new LineKernel());
    const frame = (lines: string, member: number) => {
      const head = Buffer.alloc(6);
      head.writeUInt32BE(1, 0);
      head.writeUInt16BE(member, 4);
      const [read] = new FrameReader(MAX_BYTES).read(
        encodeFrame(FRAME.records, 0, Buffer.concat([head, Buffer.from(lines)])),
      );
      return read ?? { kind: 0, index: 0, payload: head };
    };
    const line = `${JSON.stringify(recordsAt('r', [1])[0])}\n`;
    expect(reader.read(frame(line, 0))?.records).toHaveLength(1);
    for (const [lines, member] of [
      [line, MEMBERS],
      [`${line}${line}`, 0],
      ['', 0],
      ['{"type":"record"}\n', 0],
      ['{"type":"end"}\n', 0],
      [line.slice(0, -9), 0],
    ] as const)
      expect(() => reader.read(frame(lines, member)), lines).toThrow('a part of a group is invalid');
  });
});
