import { crc32, deflateRawSync } from 'node:zlib';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCursorOf, packCursor, unpackCursor } from './packed-cursor.ts';

const form = fc.record({
  kind: fc.constantFrom('cluster', 'kept', 'archive', 'combined'),
  order: fc.constantFrom('newest', 'oldest'),
});
const values = fc.array(fc.jsonValue()).map((list) => JSON.parse(JSON.stringify(list)) as unknown[]);

const INVALID = expect.objectContaining({ name: 'LogError', code: 'CURSOR_INVALID' });

describe('a packed cursor', () => {
  test('is read back as it was written, and is one word that is safe in URLs', () => {
    fc.assert(
      fc.property(form, values, (made, written) => {
        const text = packCursor(made, written);
        expect(text).toMatch(/^[\w.-]+$/);
        expect(isCursorOf(made.kind, text)).toBe(true);
        expect(unpackCursor(made, text)).toEqual(written);
      }),
      { numRuns: runs(50) },
    );
  });

  test('with any byte changed, removed or added is refused', () => {
    fc.assert(
      fc.property(form, values, fc.nat(), fc.nat(255), (made, written, where, byte) => {
        const bytes = Buffer.from(packCursor(made, written));
        const at = where % bytes.length;
        const changed = Buffer.from(bytes);
        changed[at] = bytes[at] === byte ? byte ^ 1 : byte;
        const removed = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
        const added = Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]);
        for (const damaged of [changed, removed, added, bytes.subarray(0, at)])
          if (!damaged.equals(bytes)) expect(() => unpackCursor(made, damaged.toString('latin1'))).toThrow(INVALID);
      }),
      { numRuns: runs(250) },
    );
  });

  test('with one character replaced by any other is refused', () => {
    const made = { kind: 'archive', order: 'newest' } as const;
    const text = packCursor(made, [1_794_743_999_123, 'broker-1', 'broker.log', '0123456789abcdef', 48_213]);
    for (let at = 0; at < text.length; at++)
      for (const character of 'ABYZabyz0189-_+/=. ~\0ü') {
        if (character === text[at]) continue;
        const damaged = text.slice(0, at) + character + text.slice(at + 1);
        expect(() => unpackCursor(made, damaged)).toThrow(INVALID);
      }
  });

  test('is refused as another kind, and in another order, which the error names', () => {
    const text = packCursor({ kind: 'cluster', order: 'newest' }, [1]);
    expect(isCursorOf('kept', text)).toBe(false);
    expect(() => unpackCursor({ kind: 'kept', order: 'newest' }, text)).toThrow(INVALID);
    expect(() => unpackCursor({ kind: 'kept', order: 'newest' }, text.replace('c2.', 'k2.'))).toThrow(INVALID);
    expect(() => unpackCursor({ kind: 'cluster', order: 'oldest' }, text)).toThrow(INVALID);
    expect(() => unpackCursor({ kind: 'cluster', order: 'oldest' }, text)).toThrow('for order newest, not oldest');
  });

  test('of another version is refused with a way out', () => {
    const old = ['a1.WzAsMTc5NF0', 'i1bKSy1PLS5R0gGzDHQUomMB'];
    for (const text of old)
      expect(() => unpackCursor({ kind: 'archive', order: 'newest' }, text)).toThrow(/another version; search again/);
  });

  test.each([
    ['nothing', ''],
    ['only its beginning', 'c2.'],
    ['of another form', 'a1.WzAsMTc5NF0'],
    ['no cursor', 'abcdefgh'],
    ['the cursor of a record', '0123456789abcdef.sg.0.0.0.YQ'],
    ['too long', `c2.${'A'.repeat(600_000)}`],
    ['packed from gigabytes', forged(Buffer.alloc(50_000_000, ' '))],
    ['no JSON', forged('[')],
    ['no list', forged('{"length":1}')],
    ['without an order', forged('[]')],
    ['of an order that is none', forged('["up",1]')],
    ['not packed', signed(Buffer.from('["newest"]'))],
  ])('is refused where it is %s', (_what, text) => {
    expect(() => unpackCursor({ kind: 'cluster', order: 'newest' }, text)).toThrow(INVALID);
  });
});

/** With a checksum that is right: whoever knows the format can make one. */
function forged(json: string | Buffer): string {
  return signed(deflateRawSync(json));
}

function signed(packed: Buffer): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(packed, crc32('c2.')));
  return `c2.${Buffer.concat([packed, sum]).toString('base64url')}`;
}
