import { CancelFlag } from '../scan/cancel-flag.ts';
import { RecordMatcher } from '../scan/record-matcher.ts';
import type { FoundRecord, SearchQuery } from '../types.ts';
import { familyRecords } from './family-records.ts';
import type { OpenFamily } from './open-family.ts';
import { FIRST_PLACE, LAST_PLACE, type PlaceRange } from './place.ts';
import type { ScanShop } from './scan-shop.ts';
import { ScanTally } from './scan-tally.ts';

/** Puts the records before and after each found one beside it, whatever the filter says of them. */
export async function addContext(
  shop: ScanShop,
  families: readonly OpenFamily[],
  { before, after, raw = false }: SearchQuery,
  records: FoundRecord[],
): Promise<FoundRecord[]> {
  if (before === 0 && after === 0) return records;
  const found: FoundRecord[] = [];
  for (const record of records) {
    const family = families.find(({ files }) => files.some(({ name }) => name === record.file));
    if (!family) continue;
    const file = family.files.findIndex(({ name }) => name === record.file);
    const { offset } = record;
    const older = { range: { from: FIRST_PLACE, to: { file, offset } }, newestFirst: true, count: before, raw };
    const newer = {
      range: { from: { file, offset: offset + 1 }, to: LAST_PLACE },
      newestFirst: false,
      count: after,
      raw,
    };
    const [earlier, later] = await Promise.all([older, newer].map((side) => neighbours(shop, family, side)));
    found.push({
      ...record,
      ...(before > 0 && { before: (earlier ?? []).reverse() }),
      ...(after > 0 && { after: later ?? [] }),
    });
  }
  return found;
}

interface Side {
  range: PlaceRange;
  newestFirst: boolean;
  count: number;
  raw: boolean;
}

async function neighbours(shop: ScanShop, family: OpenFamily, side: Side): Promise<FoundRecord[]> {
  const { range, newestFirst, count, raw } = side;
  const found: FoundRecord[] = [];
  if (count === 0) return found;
  const task = {
    shop,
    family,
    range,
    newestFirst,
    matcher: new RecordMatcher({}),
    flag: new CancelFlag(),
    tally: new ScanTally(),
  };
  const wish = { filter: {}, raw, wanted: () => count - found.length };
  for await (const { records } of familyRecords(task, wish)) {
    found.push(...records.slice(0, count - found.length));
    if (found.length >= count) break;
  }
  return found;
}
