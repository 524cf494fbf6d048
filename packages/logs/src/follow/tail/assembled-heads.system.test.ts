import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUILT_IN_FORMATS, createFormat } from '../../parse/detect-format.ts';
import { createZone } from '../../parse/zone.ts';
import { FIXTURES } from '../../testing/formats/format-table.ts';
import type { Piece } from '../ring/ring-entry.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { RecordAssembler } from './record-assembler.ts';

const HEADS = new URL('../../../fixtures/heads/', import.meta.url);

const TEXTS = [FIXTURES, HEADS].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => [name, readFileSync(new URL(name, folder))] as const),
);

const OPTIONS = { zone: createZone('UTC'), writtenMs: Date.UTC(2026, 10, 15) };

/** What a text is assembled to if it arrives in such pieces, each a millisecond after the one before. */
function assemble(text: Buffer, spec: string, lengthOf: () => number): Piece[] {
  const assembler = new RecordAssembler(createFormat(spec, OPTIONS), 0, { continues: false });
  const pieces: Piece[] = [];
  let nowMs = 0;
  for (let at = 0; at < text.length; nowMs++) {
    const end = Math.min(text.length, at + lengthOf());
    pieces.push(...assembler.push(text.subarray(at, end), nowMs), ...assembler.flush(nowMs));
    at = end;
  }
  return [...pieces, ...assembler.flushAll()];
}

test('a record has the time and the level of all its lines, in whatever pieces they arrive', () => {
  const random = seededRandom(1);
  for (const [name, text] of TEXTS) {
    const { spec } = BUILT_IN_FORMATS.detect(text, OPTIONS);
    const format = createFormat(spec, OPTIONS);
    for (const piece of assemble(text, spec, () => Math.ceil(random() * 100))) {
      if (piece.continued) continue;
      const head = { timeMs: Number.NaN, rank: 0 };
      const { bytes } = piece;
      format.readHead(bytes, 0, bytes.indexOf(10) + 1 || bytes.length, head);
      expect({ name, text: bytes.toString(), head: piece.head }).toEqual({ name, text: bytes.toString(), head });
    }
  }
});
