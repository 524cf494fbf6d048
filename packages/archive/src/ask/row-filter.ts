import { createRecordFilter, RegexConditions, searchableText } from '@porthole/logs';
import type { FoundRecord, RecordFilter } from '@porthole/logs/types';
import type { DecodedRow } from './row-columns.ts';

/** Which of the texts a regex matches, computed in other threads: a single long text may take seconds. */
export type MatchRegex = (filter: RecordFilter, texts: readonly Buffer[]) => Promise<boolean[]>;

/** The rows whose records match. */
export type RowFilter = (rows: readonly DecodedRow[]) => Promise<DecodedRow[]>;

/**
 * The engine's own matcher on decoded rows, for what SQL cannot decide. Without times, which SQL has tested. Rejects with
 * REGEX_INVALID or REGEX_TOO_COMPLEX.
 */
export async function createRowFilter(filter: RecordFilter, matchRegex: MatchRegex | undefined): Promise<RowFilter> {
  const { fromMs: _fromMs, toMs: _toMs, ...conditions } = filter;
  // Also without rows, an invalid regex is refused.
  const matches = await createRecordFilter(conditions, []);
  const regexes = RegexConditions.of(conditions);
  if (!regexes || !matchRegex) return async (rows) => rows.filter(({ record }) => matches(record));
  const matchesOthers = await createRecordFilter(conditions, [], { withRegexes: false });
  return async (rows) => {
    const candidates = rows.filter(({ record }) => matchesOthers(record));
    const isMatch = await regexes.decide(candidates.map(toDecoded), matchRegex);
    return candidates.filter((_, index) => isMatch[index]);
  };
}

function toDecoded({ record }: { record: FoundRecord }) {
  return { fields: () => record, text: () => searchableText(record).toString() };
}
