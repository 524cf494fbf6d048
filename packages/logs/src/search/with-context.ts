import { bytesOf, type RecordBatch, recordsOf, sliceBatch } from '@porthole/records';
import { CancelFlag } from '../cancel-flag.ts';
import { shownBytesEach } from '../scan/block/record-formatter.ts';
import { RecordMatcher } from '../scan/match/record-matcher.ts';
import type { FoundRecord, SearchQuery } from '../types.ts';
import { familyRecords, lineAt } from './family-records.ts';
import type { OpenFamily } from './files/open-family.ts';
import { type TakenRecords, takenBatch } from './lane.ts';
import { FIRST_POSITION, LAST_POSITION, type PositionRange } from './plan/file-parts.ts';
import { ScanTally } from './plan/scan-tally.ts';
import type { ScanContext } from './scan-context.ts';
import type { StopReason } from './stop-reason.ts';

/** The context of a record costs two scans: emitted in small batches, the first ones come at once. */
const BATCH_RECORDS = 16;

/** The records found, with the records before and after each if requested. */
export async function* withContext(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  query: SearchQuery,
  { taken, stop }: { taken: readonly TakenRecords[]; stop: StopReason },
): AsyncGenerator<RecordBatch, void, undefined> {
  const all = takenBatch(taken);
  if (query.before === 0 && query.after === 0) {
    yield all;
    return;
  }
  for (let from = 0; from < all.ends.length; from += BATCH_RECORDS) {
    const batch = sliceBatch(all, from, Math.min(from + BATCH_RECORDS, all.ends.length));
    const records = recordsOf<FoundRecord>(batch).map((record, index) => ({
      ...record,
      line: lineText(bytesOf(batch, index, index + 1)),
    }));
    const lines = await addContext(scanContext, families, query, { records, stop });
    const parts = lines.map((line) => Buffer.from(`${line}\n`));
    let end = 0;
    yield { ...batch, bytes: Buffer.concat(parts), ends: Uint32Array.from(parts, ({ length }) => (end += length)) };
  }
}

/**
 * Adds the records before and after each found one, regardless of the filter. Not after a stop. The lines are joined as
 * text: parsing and serializing them would change numbers.
 */
async function addContext(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
  { before, after, raw = false, fields }: SearchQuery,
  { records, stop }: { records: (FoundRecord & { line: string })[]; stop: StopReason },
): Promise<string[]> {
  const found: string[] = [];
  for (const record of records) {
    // The records found are emitted in any case; their context costs a scan each.
    if (stop.reason) {
      found.push(record.line);
      continue;
    }
    const family = families.find(({ files }) => files.some(({ name }) => name === record.file)) as OpenFamily;
    const file = family.files.findIndex(({ name }) => name === record.file);
    const { offset } = record;
    const shownBytes = shownBytesEach(before + after);
    const older = {
      range: { from: FIRST_POSITION, to: { file, offset } },
      newestFirst: true,
      count: before,
      raw,
      fields,
      shownBytes,
    };
    const newer = {
      range: { from: { file, offset: offset + 1 }, to: LAST_POSITION },
      newestFirst: false,
      count: after,
      raw,
      fields,
      shownBytes,
    };
    const [earlier, later] = await Promise.all(
      [older, newer].map((side) => neighbours(scanContext, family, { ...side, client: stop.client })),
    );
    const sides = [
      before > 0 ? `,"before":[${(earlier ?? []).reverse().join(',')}]` : '',
      after > 0 ? `,"after":[${(later ?? []).join(',')}]` : '',
    ];
    found.push(`${record.line.slice(0, -1)}${sides.join('')}}`);
  }
  return found;
}

interface Side {
  range: PositionRange;
  newestFirst: boolean;
  count: number;
  raw: boolean;
  fields: readonly string[] | undefined;
  shownBytes: number;
  client: string | undefined;
}

async function neighbours(scanContext: ScanContext, family: OpenFamily, side: Side): Promise<string[]> {
  const { range, newestFirst, count, raw, fields, shownBytes, client } = side;
  const found: string[] = [];
  if (count === 0) return found;
  const task = {
    scanContext,
    family,
    range,
    newestFirst,
    matcher: new RecordMatcher({}),
    flag: new CancelFlag({ client }),
    tally: new ScanTally(),
    ahead: 0,
  };
  const recordsOptions = { filter: {}, raw, fields, shownBytes, wanted: () => count - found.length };
  for await (const { found: more } of familyRecords(task, recordsOptions)) {
    for (let index = 0; index < more.ends.length && found.length < count; index++) {
      found.push(lineText(lineAt(more, index)));
    }
    if (found.length >= count) break;
  }
  return found;
}

/** A line without its newline. */
function lineText(line: Uint8Array): string {
  return Buffer.from(line.buffer, line.byteOffset, line.length - 1).toString();
}
