import { describe, expect, it } from 'vitest';
import { messageHead } from './call-lifecycle.ts';
import { loadServiceDefinition } from './service-definition.ts';

describe('a chunk as a message', () => {
  const { ViewLog, ReadLog } = loadServiceDefinition();

  it.each([1, 127, 128, 16_383, 16_384, 300_000])('of %d bytes is what the usual writer makes of it', (length) => {
    const chunk = Buffer.alloc(length, 7);
    const framed = Buffer.concat([messageHead(length), chunk]);
    for (const method of [ViewLog, ReadLog]) {
      const usual = method.responseSerialize({ chunk });
      expect(framed.subarray(5).equals(usual)).toBe(true);
      expect([framed[0], framed.readUInt32BE(1)]).toEqual([0, usual.length]);
    }
  });
});
