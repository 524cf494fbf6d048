/* Random directories of logs, with everything that is hard to parse. */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { DISORDER_MS } from '../scan/tasks/seek-time.ts';
import { Clock, PLAIN, type RecordPiece, renderRecord, type Style } from './random-record.ts';
import type { SlowFamily, SlowFile } from './slow-logs.ts';

/** In summer, before clocks are set back, and before they are set forward. */
const BEGINNINGS = ['2026-06-01T10:00:00Z', '2026-10-24T23:20:00Z', '2026-03-29T00:20:00Z'].map((iso) =>
  Date.parse(iso),
);

/** Words that are also searched for. */
export const WORDS = ['timeout', 'Disk', 'ärger', 'q=42', 'a.b', 'ERROR', 'flush', '日本'] as const;
export const SOURCES = ['a.go:1', 'broker/runtime.go:172', 'x/y/time.go:7', 'b.ts:33'] as const;
export const TAGS = ['Broker', 'storage', 'a b'] as const;
/** Escapes, numbers that no parser keeps, and one name written in two ways. */
const CONTEXTS = [
  '{"q":"42"}',
  '{"q":42,"http":{"status":500},"ids":[1,2,[3]],"note":"a \\u0041\\/\\"b","wait_ms":900}',
  '{"big":12345678901234567890,"took":"1.5s","http.status":"404","q":null,"level":"low"}',
  '{"q" : 42.0, "q":-0.5, "size":"10 KiB","took":"523.4ms","note":"Disk ÄRGER \u212A"}',
] as const;
const LEVEL_COLUMNS = ['INFO', 'INFO', 'WARN', 'ERROR', 'DEBUG', 'fatal', 'NOPE', ''] as const;

type Piece =
  | RecordPiece
  | { kind: 'bytes'; bytes: Uint8Array }
  /** Many like the last one, each a little later. */
  | { kind: 'run'; count: number; stepMs: number; lateMs: number }
  /** A record long enough for the next one to start near a block boundary. */
  | { kind: 'border'; by: number }
  | { kind: 'long'; kibibytes: number; tail: string };

export interface LogSpec {
  beginning: number;
  /** The clock of the writer's host does not follow the zone's changes. */
  fixedClock: boolean;
  style: Style;
  naming: 'numbered' | 'dated';
  /** `style`: of a file that another version, or another program, wrote. */
  files: { pieces: Piece[]; gz: boolean; open: boolean; style?: Style }[];
}

const record: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constant('record' as const),
  advanceMs: fc.oneof(fc.constant(0), fc.nat(3000), fc.nat(900_000)),
  lateMs: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(DISORDER_MS) }),
  level: fc.constantFrom(...LEVEL_COLUMNS),
  source: fc.constantFrom('', ...SOURCES),
  tag: fc.constantFrom('', '', ...TAGS),
  words: fc.array(fc.constantFrom(...WORDS), { maxLength: 3 }),
  context: fc.constantFrom('', '', ...CONTEXTS),
  more: fc.array(
    fc.constantFrom('\tat main()', '', 'goroutine 1', '  Timeout', '2026-13-01 00:00:00\tERROR\tno date'),
    {
      maxLength: 2,
    },
  ),
  crlf: fc.boolean(),
});

const garbage: fc.Arbitrary<Piece> = fc
  .oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.nat(3000).map((length) => new Uint8Array(length)),
    fc.constantFrom('\n', '\r\n', '\n\n\n', 'ERROR\tx.go:1\tno time\n', '2026-06-01 1', 'timeout\n').map(Buffer.from),
  )
  .map((bytes) => ({ kind: 'bytes' as const, bytes }));

const run: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constant('run' as const),
  count: fc.oneof(fc.nat(40), fc.integer({ min: 1000, max: 6000 })),
  stepMs: fc.constantFrom(0, 1, 40, 700),
  lateMs: fc.constantFrom(0, 0, 1000, DISORDER_MS),
});

const border: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constant('border' as const),
  by: fc.oneof(fc.integer({ min: -30, max: 30 }), fc.constantFrom(-4096, -4097, 4095, 4096, 4097)),
});

const long: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constant('long' as const),
  kibibytes: fc.constantFrom(3, 60, 70, 300, 700),
  tail: fc.constantFrom('', 'timeout', 'ERROR\tDisk'),
});

const piece = fc.oneof(
  { weight: 30, arbitrary: record },
  { weight: 4, arbitrary: garbage },
  { weight: 4, arbitrary: run },
  { weight: 2, arbitrary: border },
  { weight: 1, arbitrary: long },
);

const styles = fc.constantFrom<Style[]>('contract', 'json', 'glog', 'iso', 'text');

export const logSpec: fc.Arbitrary<LogSpec> = fc.record({
  beginning: fc.constantFrom(...BEGINNINGS),
  fixedClock: fc.boolean(),
  style: fc.constantFrom(
    'contract',
    'contract',
    'contract',
    'contract',
    'json',
    'glog',
    'iso',
    'text',
  ) as fc.Arbitrary<Style>,
  naming: fc.constantFrom('numbered', 'dated'),
  files: fc.array(fc.record({ pieces: fc.array(piece, { maxLength: 15 }), gz: fc.boolean(), open: fc.boolean() }), {
    minLength: 1,
    maxLength: 3,
  }),
});

/** Families of which each file may have another format, or no times. */
export const mixedSpec: fc.Arbitrary<LogSpec> = fc
  .tuple(logSpec, fc.array(styles, { minLength: 3, maxLength: 3 }))
  .map(([spec, each]) => ({
    ...spec,
    files: spec.files.map((file, index) => ({ ...file, style: each[index] ?? spec.style })),
  }));

export interface WrittenFamily extends SlowFamily {
  /** Which of the files are compressed. */
  gz: boolean[];
}

/** Renders the text of one log after the other; no two of them start alike. */
export class LogWriter {
  #made = 0;

  family(stem: string, { beginning, fixedClock, style, naming, files }: LogSpec): WrittenFamily {
    const clock = new Clock(beginning, { fixed: fixedClock });
    const named = files.map(({ pieces, gz, open, style: own = style }, index) => {
      const packed = gz && index < files.length - 1;
      const name = fileName(stem, naming, { index, count: files.length, packed });
      const text = renderText(pieces, own, clock, `log ${String(this.#made++).padStart(6, '0')}`);
      // Rotated files are some time apart, because they are ordered by their first times.
      clock.advance(3 * DISORDER_MS);
      return { name, text: open && text.at(-1) === 10 ? text.subarray(0, -1) : text, packed };
    });
    return {
      name: `${stem}.log`,
      files: named.map(({ name, text }): SlowFile => ({ name, text, writtenMs: 0 })),
      gz: named.map(({ packed }) => packed),
    };
  }
}

/** Writes families to a directory, replacing its content. */
export function writeFamilies(dir: string, families: readonly WrittenFamily[]): void {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir);
  for (const { files, gz } of families) {
    files.forEach((file, index) => {
      const path = join(dir, file.name);
      writeFileSync(path, gz[index] ? gzipSync(file.text, { level: 1 }) : file.text);
      file.writtenMs = Number(statSync(path, { bigint: true }).mtimeNs / 1_000_000n);
    });
  }
}

function fileName(
  stem: string,
  naming: LogSpec['naming'],
  { index, count, packed }: { index: number; count: number; packed: boolean },
): string {
  const end = packed ? '.gz' : '';
  const age = count - 1 - index;
  if (age === 0) return `${stem}.log`;
  if (naming === 'numbered') return `${stem}.log.${age}${end}`;
  return `${stem}-2026-01-${String(10 + index)}T00-00-00.000.log${end}`;
}

function renderText(pieces: readonly Piece[], style: Style, clock: Clock, id: string): Buffer {
  const parts: Buffer[] = [renderRecord({ ...PLAIN, words: [id] }, style, clock)];
  let length = parts[0]?.length ?? 0;
  let last: RecordPiece = PLAIN;
  const add = (part: Uint8Array) => {
    parts.push(Buffer.from(part));
    length += part.length;
  };
  for (const piece of pieces) {
    switch (piece.kind) {
      case 'record':
        last = piece;
        add(renderRecord(piece, style, clock));
        break;
      case 'bytes':
        add(piece.bytes);
        break;
      case 'run':
        for (let index = 0; index < piece.count; index++) {
          add(
            renderRecord(
              { ...last, advanceMs: piece.stepMs, lateMs: index % 3 === 1 ? piece.lateMs : 0 },
              style,
              clock,
            ),
          );
        }
        break;
      case 'border':
        add(renderBorder(length, piece.by, style, clock));
        break;
      case 'long':
        add(renderRecord({ ...last, words: ['x'.repeat(piece.kibibytes * 1024), piece.tail] }, style, clock));
        break;
    }
  }
  return Buffer.concat(parts);
}

/** Ends `by` bytes after the next boundary, if there is room. */
function renderBorder(length: number, by: number, style: Style, clock: Clock): Buffer {
  const empty = renderRecord({ ...PLAIN, words: [''] }, style, clock);
  const target = (Math.floor((length + empty.length - by) / BLOCK_BYTES) + 1) * BLOCK_BYTES + by;
  return renderRecord({ ...PLAIN, words: ['-'.repeat(target - length - empty.length)] }, style, clock);
}
