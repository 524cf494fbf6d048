import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFormat } from '../parse/detect-format.ts';
import { createZone } from '../parse/zone.ts';
import { MAX_NEEDLE_BYTES, makeNeedle, ScanKernel, UNSURE } from './scan-kernel.ts';

const kernel = new ScanKernel();
const contract = createFormat('contract', { zone: createZone('UTC'), writtenMs: 0 });

/** Surrounds the text: none of it may be taken for part of the text. */
const AROUND = Buffer.from(
  '2024-08-16 09:48:23.118\tERROR\t\nneedle NEEDLE\n2024-08-16 09:48:23.118\tERROR\t\n'.repeat(3),
);

/** Puts a text into the kernel's memory after some other bytes; returns where it starts. */
function load(text: Buffer, lead: number): number {
  kernel.text.fill(7, 0, lead + text.length + 256);
  AROUND.copy(kernel.text, lead + text.length);
  text.copy(kernel.text, lead);
  if (lead > 0) kernel.text[lead - 1] = 10;
  return lead;
}

/** Offsets that matter to loops over 16, 64 and 128 bytes. */
const lead = fc.oneof(fc.nat(140), fc.constantFrom(1, 15, 16, 17, 63, 64, 65, 127, 128, 129));
const filler = fc.oneof(
  fc.nat(130).map((length) => 'x'.repeat(length)),
  fc.constantFrom(14, 15, 16, 17, 30, 47, 62, 63, 64, 65).map((length) => '-'.repeat(length)),
);

const stamp = fc.oneof(
  fc.constantFrom(
    ...[
      '2024-08-16 09:48:23',
      '2024-02-29 23:59:60',
      '2023-02-29 00:00:00',
      '1900-02-29 00:00:00',
      '2000-02-29 00:00:00',
    ],
    ...[
      '0000-01-01 00:00:00',
      '9999-12-31 23:59:59',
      '1969-12-31 23:59:59',
      '2024-08-16T09:48:23',
      '2024-08-16 24:00:00',
    ],
    ...[
      '2024-08-16 09:60:23',
      '2024-08-16 09:48:61',
      '2024-00-16 09:48:23',
      '2024-08-00 09:48:23',
      '2024-8-16 09:48:23',
    ],
    ...[
      '2024-08-16 09:48:2',
      '2024-08-16 09:48:',
      '2024-08-16 09:48',
      '',
      '2024-08-16 09:48:23\0',
      'x2024-08-16 09:48:23',
    ],
  ),
  // A valid one with one character replaced.
  fc
    .tuple(fc.nat(18), fc.constantFrom('0', '9', '/', ':', '-', ' ', ';', '\n', '\0', '\xff'))
    .map(([at, character]) => {
      const good = '2024-08-16 09:48:23';
      return good.slice(0, at) + character + good.slice(at + 1);
    }),
);
const fraction = fc.constantFrom(
  '',
  '.1',
  '.12',
  '.123',
  ',123',
  '.1234567',
  '.',
  ',',
  '.x',
  '.12x',
  ';123',
  '.999999999999',
);
const separator = fc.constantFrom('\t', ' ', '', '\r', '  ', 'Z');
const word = fc.oneof(
  fc.constantFrom(
    'INFO',
    'info',
    'Warn',
    'WARNING',
    'ERROR',
    'ERR',
    'CRITICAL',
    'CRITICALS',
    'DPANIC',
    'FATAL',
    'NOTICE',
  ),
  fc.constantFrom(
    'INF',
    'INFOS',
    '',
    'INFO ',
    'IN`O',
    'INF@',
    'INFO\0',
    '[INFO]',
    'TRACE\r',
    'ſ',
    'abcdefgh',
    'ABCDEFGHIJKL',
  ),
);
const ending = fc.constantFrom('\t', '\n', '\r\n', '', '\r', ' rest\n', '\ta.go:1\tmessage\n', '\r\t\n');
const headText = fc
  .array(
    fc.oneof(
      fc.tuple(stamp, fraction, separator, word, ending).map((parts) => parts.join('')),
      filler,
      fc.constant('\n'),
    ),
  )
  .map((parts) => Buffer.from(parts.join(''), 'latin1'));

describe('the compiled loops', () => {
  contract.program?.learn(AROUND, 0, AROUND.indexOf(10));
  kernel.setProgram(contract.program);

  test('find the record heads that reading line by line finds', () => {
    fc.assert(
      fc.property(headText, lead, fc.nat(100), (text, before, beyond) => {
        const start = load(text, before);
        const limit = start + text.length;
        const to = Math.max(start, limit - beyond);
        const count = to > start ? kernel.heads(start, to, { limit, known: 0, most: text.length }) : 0;
        const found = Array.from({ length: count }, (_, index) => ({
          at: (kernel.positions[index] ?? 0) - start,
          timeMs: kernel.times[index],
          rank: kernel.ranks[index],
        }));
        // Of lines with other dates it is not sure, and neither is it of a last one without a newline.
        const sure = found.filter(({ rank }) => rank !== UNSURE);
        const unsure = new Set(found.filter(({ rank }) => rank === UNSURE).map(({ at }) => at));
        expect(sure).toEqual(to > start ? slowHeads(text, to - start).filter(({ at }) => !unsure.has(at)) : []);
      }),
      { numRuns: runs(1500) },
    );
  });

  test('see that a line may be an error if one is, and not if no word of an error is there', () => {
    fc.assert(
      fc.property(headText, lead, (text, before) => {
        const end = load(text, before) + text.length;
        const hasErrors = slowHeads(text, text.length).some(({ rank }) => rank >= 5);
        const hasWords = /(?:err|error|panic|fatal|critical)(?![a-z])/i.test(text.toString('latin1'));
        const mayHaveErrors = kernel.mayHaveErrors(end);
        if (hasErrors) expect(mayHaveErrors).toBe(true);
        if (!hasWords) expect(mayHaveErrors).toBe(false);
      }),
      { numRuns: runs(1500) },
    );
  });

  test('see a NUL at every position that is examined, and at no other', () => {
    fc.assert(
      fc.property(fc.nat(700), lead, fc.nat(300), fc.integer({ min: 1, max: 300 }), (length, before, from, step) => {
        const start = load(Buffer.alloc(length, 'x'), before);
        const bytes = kernel.text.subarray(start, start + length);
        for (const nul of [from, from + step, from + 2 * step + 1].filter((at) => at < length)) {
          bytes[nul] = 0;
          const isSeen = nul >= from && (nul - from) % step === 0;
          expect(kernel.mayHaveHole(bytes, from, length, step)).toBe(isSeen);
          bytes[nul] = 1;
        }
        expect(kernel.mayHaveHole(bytes, from, length, step)).toBe(false);
        expect(kernel.mayHaveHole(Buffer.alloc(1), 0, 1, 1)).toBe(undefined);
      }),
    );
  });

  test('hash a text as it is hashed byte by byte', () => {
    fc.assert(
      fc.property(headText, lead, (text, before) => {
        const start = load(text, before);
        const end = start + text.length;
        expect(kernel.checksum(0, end)).toBe(slowChecksum(kernel.text.subarray(0, end)));
      }),
    );
  });

  test('find the first occurrence of a text, with or without case', () => {
    const letters = fc.constantFrom('a', 'A', 'b', 'B', '@', '`', '[', '{', ' ', '\n', 'ä', '\0', 'e', 'E');
    const needle = fc.array(letters, { minLength: 1, maxLength: 20 }).map((parts) => parts.join(''));
    const text = fc.array(fc.oneof(letters, filler, fc.constant('NEEDLE')), { maxLength: 60 });
    fc.assert(
      fc.property(text, needle, lead, fc.boolean(), fc.boolean(), (parts, wanted, before, within, exactly) => {
        const caseSensitive = exactly || wanted.includes('ä');
        // Half of the texts contain it, somewhere, in another case.
        const middle = Math.floor(parts.length / 2);
        const whole = within ? [...parts.slice(0, middle), swapCase(wanted), ...parts.slice(middle)] : parts;
        const bytes = Buffer.from(whole.join(''));
        const start = load(bytes, before);
        kernel.setNeedle(makeNeedle(wanted, { caseSensitive }));
        const fold = (value: Buffer) =>
          caseSensitive ? value : Buffer.from(value.toString('latin1').replace(/[A-Z]/g, lower), 'latin1');
        const expected = fold(bytes).indexOf(fold(Buffer.from(wanted)));
        expect(kernel.find(start, start + bytes.length)).toBe(expected < 0 ? -1 : start + expected);
      }),
      { numRuns: runs(1500) },
    );
  });

  test('find the start of a text that exceeds the length limit', () => {
    const long = 'long text '.repeat(200);
    const start = load(Buffer.from(`some ${long}`), 5);
    kernel.setNeedle(makeNeedle(long, { caseSensitive: true }));
    expect(kernel.find(start, start + 5 + MAX_NEEDLE_BYTES)).toBe(start + 5);
    expect(kernel.find(start, start + 4 + MAX_NEEDLE_BYTES)).toBe(-1);
  });
});

/** Word by word instead of eight vectors at a time. */
function slowChecksum(bytes: Buffer): number {
  const lanes = Array.from({ length: 32 }, (_, lane) => 1 + Math.floor(lane / 4));
  const whole = bytes.length - (bytes.length % 128);
  for (let at = 0; at < whole; at += 4) {
    const lane = (at % 128) / 4;
    const product = Math.imul((lanes[lane] ?? 0) ^ bytes.readUInt32LE(at), 0x9e3779b1);
    lanes[lane] = (product << 16) | (product >>> 16);
  }
  const mix = (hash: number, value: number) => {
    const product = Math.imul(hash ^ value, 0x9e3779b1);
    return product ^ (product >>> 15);
  };
  return [...bytes.subarray(whole)].reduce(mix, lanes.reduce(mix, bytes.length)) >>> 0;
}

function lower(letter: string): string {
  return letter.toLowerCase();
}

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));
}

function slowHeads(text: Buffer, to: number): { at: number; timeMs: number; rank: number }[] {
  const found = [];
  for (let line = 0; line < to; ) {
    const newline = text.indexOf(10, line);
    const end = newline < 0 ? text.length : newline + 1;
    const head = { timeMs: 0, rank: 0 };
    if (contract.readHead(text, line, end, head)) found.push({ at: line, ...head });
    line = end;
  }
  return found;
}
