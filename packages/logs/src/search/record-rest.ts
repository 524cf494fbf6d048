import { resumeCursor } from '../cursor/cursor.ts';
import { CancelFlag } from '../scan/cancel-flag.ts';
import { familyRecords, lineOf, recordOf } from './family-records.ts';
import type { FamilyTask } from './file-parts.ts';
import { noteProblem } from './open-family.ts';
import type { OpenFile } from './open-file.ts';
import type { Place } from './place.ts';
import { ScanTally } from './scan-tally.ts';

export interface RecordRest {
  /** A `FoundRecord` as a line of JSON. */
  line: Buffer;
  /** Continues after it. */
  cursor: string;
}

/**
 * What was added to a record after it had been delivered: its bytes from `place` on, as a continued record, if the
 * record itself matches. `undefined` where a record, or nothing, starts at the place.
 */
export async function recordRest(
  task: FamilyTask,
  { filter, raw, place }: { filter: Parameters<typeof familyRecords>[1]['filter']; raw: boolean; place: Place },
): Promise<RecordRest | undefined> {
  const { family, flag, range: asked } = task;
  const file = family.files[place.file];
  if (!file || flag.isSet || (asked.to.file === place.file && asked.to.offset <= place.offset)) return undefined;
  try {
    return await readRest(task, { filter, raw, place, file });
  } catch (error) {
    return flag.isSet ? undefined : noteProblem(family.problems, file.name, error);
  }
}

async function readRest(
  task: FamilyTask,
  { filter, raw, place, file }: Parameters<typeof recordRest>[1] & { file: OpenFile },
): Promise<RecordRest | undefined> {
  const { shop, family, flag } = task;
  const scanFile = await shop.prepare(file, flag, family.problems);
  if (place.offset >= scanFile.textBytes) return undefined;
  const offset = await shop.pool.run({ kind: 'align', file: scanFile, offset: place.offset }, flag);
  if (offset >= place.offset) return undefined;
  const range = { from: { file: place.file, offset }, to: { file: place.file, offset: offset + 1 } };
  const wish = { filter, raw, restFrom: place.offset, wanted: () => 1 };
  // A flag and a tally of its own: leaving the loop ends the scan, and the record is scanned again with the others.
  const own = { flag: new CancelFlag(), tally: new ScanTally(), ahead: 0 };
  for await (const { found } of familyRecords({ ...task, ...own, range }, wish)) {
    if (found.ends.length === 0) continue;
    const line = lineOf(found, 0);
    return { line, cursor: resumeCursor(recordOf(line)) };
  }
  return undefined;
}
