import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameReader } from './frames.ts';

const frame = fc.record({
  kind: fc.integer({ min: 0, max: 5 }),
  index: fc.integer({ min: 0, max: 255 }),
  payload: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
});

describe('frames', () => {
  it('are read as they were written, wherever the chunks are cut', () => {
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 60 })), (frames, cuts) => {
        let bytes = Buffer.concat(frames.map(({ kind, index, payload }) => encodeFrame(kind, index, payload)));
        const reader = new FrameReader(40);
        const read = cuts.flatMap((length) => {
          const chunk = bytes.subarray(0, length);
          bytes = bytes.subarray(length);
          return reader.read(chunk);
        });
        expect([...read, ...reader.read(bytes)]).toEqual(frames);
      }),
    );
  });

  it('that are too long are refused before they are read', () => {
    const head = encodeFrame(1, 0, Buffer.alloc(41)).subarray(0, 9);
    expect(() => new FrameReader(40).read(head)).toThrow('41 bytes');
  });
});
