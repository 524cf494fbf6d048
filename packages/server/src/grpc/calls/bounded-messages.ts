import type { RecordMessage } from '../generated/messages.ts';

/**
 * Approximate size limit of a message in UTF-16 units, which are at most three bytes each. Clients accept 4 MiB by default,
 * and the longest single record is below 2 MiB.
 */
const MESSAGE_UNITS = 256 * 1024;

/** Size of a record besides its texts. */
const RECORD_UNITS = 64;

interface ItemWithRecord {
  record?: RecordMessage | null | undefined;
  before?: RecordMessage | null | undefined;
  after?: RecordMessage | null | undefined;
}

/** Splits items into runs that each fit into one message. */
export function* inBoundedMessages<Item extends object>(items: readonly Item[]): Generator<Item[]> {
  let run: Item[] = [];
  let units = 0;
  for (const item of items) {
    const itemUnits = countUnits(item);
    if (run.length > 0 && units + itemUnits > MESSAGE_UNITS) {
      yield run;
      run = [];
      units = 0;
    }
    run.push(item);
    units += itemUnits;
  }
  if (run.length > 0) yield run;
}

function countUnits({ record, before, after }: ItemWithRecord): number {
  const found = record ?? before ?? after;
  if (!found) return RECORD_UNITS;
  const { message, raw, context_json, fields_json, cursor } = found;
  const texts = [message, cursor, raw, context_json, fields_json];
  return texts.reduce((units, text) => units + (text?.length ?? 0), RECORD_UNITS);
}
