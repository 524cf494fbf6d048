import { CancelFlag } from '../cancel-flag.ts';
import { type ResumedRecord, resumeCursor } from '../cursor/cursor.ts';
import { cursorAt, type FoundStep, familyRecords, lineAt, parseRecord, type RecordsOptions } from './family-records.ts';
import { noteProblem } from './files/open-family.ts';
import type { OpenFile } from './files/open-file.ts';
import type { TakenRecords } from './lane.ts';
import type { FamilyTask, RecordPosition } from './plan/file-parts.ts';
import { ScanTally } from './plan/scan-tally.ts';

export interface RecordRest {
  /** The only one. */
  taken: TakenRecords;
  /** Continues after it. */
  cursor: string;
}

/**
 * What was added to a record after it had been delivered: its bytes from `position` on, as a continued record, if the
 * record itself matches. `undefined` if a record, or nothing, starts at the position.
 */
export async function recordRest(
  task: FamilyTask,
  {
    position,
    ...recordsOptions
  }: Pick<RecordsOptions, 'filter' | 'asText' | 'raw' | 'fields'> & { position: RecordPosition },
): Promise<RecordRest | undefined> {
  const { family, flag, range: requested } = task;
  const file = family.files[position.file];
  if (!file || flag.isSet || (requested.to.file === position.file && requested.to.offset <= position.offset))
    return undefined;
  try {
    return await readRest(task, { ...recordsOptions, position, file });
  } catch (error) {
    return flag.isSet ? undefined : noteProblem(family.problems, file.name, error);
  }
}

async function readRest(
  task: FamilyTask,
  { position, file, ...shown }: Parameters<typeof recordRest>[1] & { file: OpenFile },
): Promise<RecordRest | undefined> {
  const { scanContext, family, flag } = task;
  const scanFile = await scanContext.prepare(file, flag, family.problems);
  if (position.offset >= scanFile.textBytes) return undefined;
  const offset = await scanContext.pool.run({ kind: 'align', file: scanFile, offset: position.offset }, flag);
  if (offset >= position.offset) return undefined;
  const range = { from: { file: position.file, offset }, to: { file: position.file, offset: offset + 1 } };
  const recordsOptions = { ...shown, restFrom: position.offset, wanted: () => 1 };
  // A separate flag and tally: leaving the loop ends the scan, and the record is scanned again with the others.
  const own = { flag: new CancelFlag(flag), tally: new ScanTally(), ahead: 0 };
  for await (const step of familyRecords({ ...task, ...own, range }, recordsOptions)) {
    if (step.times.length > 0) return { taken: { batch: step, from: 0, to: 1 }, cursor: resumeCursor(firstOf(step)) };
  }
  return undefined;
}

/** What has no columns has no time either. */
function firstOf(step: FoundStep): ResumedRecord {
  const { lengths, offsets } = step.found;
  if (!lengths) return parseRecord(lineAt(step.found, 0));
  return { cursor: cursorAt(step, 0), offset: offsets[0] ?? 0, bytes: lengths[0] ?? 0 };
}
