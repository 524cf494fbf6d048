import { CancelFlag } from '../scan/cancel-flag.ts';
import { RecordMatcher } from '../scan/record-matcher.ts';
import { familyRecords } from './family-records.ts';
import type { OpenFamily } from './open-family.ts';
import { FIRST_PLACE, LAST_PLACE } from './place.ts';
import type { ScanShop } from './scan-shop.ts';
import { ScanTally } from './scan-tally.ts';

/** Records from the end looked at for a time: garbage at the end of a log is rarely more. */
const MOST_LOOKED_AT = 100;

/** The times between which the families lie, as their first and last records tell. */
export async function timeSpan(
  shop: ScanShop,
  families: readonly OpenFamily[],
): Promise<{ firstMs: number; lastMs: number } | undefined> {
  const firsts = families.flatMap(({ files }) => files.flatMap(({ firstMs }) => firstMs ?? []));
  if (firsts.length === 0) return undefined;
  const lasts = await Promise.all(families.map((family) => lastTime(shop, family)));
  const firstMs = firsts.reduce((a, b) => Math.min(a, b));
  return { firstMs, lastMs: [...lasts.flatMap((time) => time ?? []), ...firsts].reduce((a, b) => Math.max(a, b)) };
}

async function lastTime(shop: ScanShop, family: OpenFamily): Promise<number | undefined> {
  const task = {
    shop,
    family,
    range: { from: FIRST_PLACE, to: LAST_PLACE },
    matcher: new RecordMatcher({}),
    newestFirst: true,
    flag: new CancelFlag(),
    tally: new ScanTally(),
    ahead: 0,
  };
  let left = MOST_LOOKED_AT;
  for await (const { found } of familyRecords(task, { filter: {}, raw: false, wanted: () => left })) {
    const timeMs = found.times.find((time) => !Number.isNaN(time));
    if (timeMs !== undefined) return timeMs;
    left -= found.times.length;
    if (left <= 0) return undefined;
  }
  return undefined;
}
