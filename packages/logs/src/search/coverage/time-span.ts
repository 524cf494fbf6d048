import { CancelFlag } from '../../scan/cancel-flag.ts';
import { RecordMatcher } from '../../scan/match/record-matcher.ts';
import { familyRecords } from '../family-records.ts';
import type { OpenFamily } from '../files/open-family.ts';
import { FIRST_POSITION, LAST_POSITION } from '../position.ts';
import type { ScanContext } from '../scan-context.ts';
import { ScanTally } from '../scan-tally.ts';

/** Records from the end examined for a time: garbage at the end of a log is rarely more. */
const MAX_SCANNED_RECORDS = 100;

/** The time range of the families, according to their first and last records. */
export async function timeSpan(
  scanContext: ScanContext,
  families: readonly OpenFamily[],
): Promise<{ firstMs: number; lastMs: number } | undefined> {
  const firsts = families.flatMap(({ files }) => files.flatMap(({ firstMs }) => firstMs ?? []));
  if (firsts.length === 0) return undefined;
  const lasts = await Promise.all(families.map((family) => lastTime(scanContext, family)));
  const firstMs = firsts.reduce((a, b) => Math.min(a, b));
  return { firstMs, lastMs: [...lasts.flatMap((time) => time ?? []), ...firsts].reduce((a, b) => Math.max(a, b)) };
}

async function lastTime(scanContext: ScanContext, family: OpenFamily): Promise<number | undefined> {
  const task = {
    scanContext,
    family,
    range: { from: FIRST_POSITION, to: LAST_POSITION },
    matcher: new RecordMatcher({}),
    newestFirst: true,
    flag: new CancelFlag(),
    tally: new ScanTally(),
    ahead: 0,
  };
  let left = MAX_SCANNED_RECORDS;
  for await (const { found } of familyRecords(task, { filter: {}, raw: false, wanted: () => left })) {
    const timeMs = found.times.find((time) => !Number.isNaN(time));
    if (timeMs !== undefined) return timeMs;
    left -= found.times.length;
    if (left <= 0) return undefined;
  }
  return undefined;
}
