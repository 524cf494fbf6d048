import { groupFamilies } from '../../file/families.ts';
import type { Format } from '../../parse/format.ts';
import { levelRank } from '../../parse/level.ts';
import type { FoundRecord, LogSelection, RecordFilter } from '../../types.ts';
import { RecordMatcher } from './record-matcher.ts';
import { RegexCache } from './regex-cache.ts';

/**
 * The filter of a search for records that are no longer in a file, using the engine's own matcher, so that a snapshot
 * of a log matches like the log itself. `files` are all file names of the records: they determine the family. Text is
 * searched in `raw`; for a record without it, in its columns. Rejects with REGEX_INVALID. Without regexes, the conditions
 * that contain one are not tested: see `RegexConditions`.
 */
export async function createRecordFilter(
  { file, family, ...filter }: LogSelection & RecordFilter,
  files: readonly string[],
  { withRegexes = true }: { withRegexes?: boolean } = {},
): Promise<(record: FoundRecord) => boolean> {
  const matcher = new RecordMatcher(filter, withRegexes ? await new RegexCache().compile(filter) : undefined);
  const wanted = family === undefined ? undefined : familyFiles(family, files);
  return (record) => {
    if (file !== undefined && record.file !== file) return false;
    if (wanted && !wanted.has(record.file)) return false;
    if (!matcher.matchesHead({ timeMs: record.timeMs ?? Number.NaN, rank: levelRank(record.level) })) return false;
    if (matcher.headOnly) return true;
    const bytes = searchableText(record);
    return matcher.matchesText(bytes, 0, bytes.length, decoded(record));
  };
}

/** The text that text conditions apply to. */
export function searchableText(record: FoundRecord): Buffer {
  return Buffer.from(`${record.raw ?? joinColumns(record)}\n`);
}

/** The file names of this log; the live file may contain none of the records. */
function familyFiles(family: string, files: readonly string[]): ReadonlySet<string> {
  const found = groupFamilies([...new Set([...files, family])]).find(({ name }) => name === family);
  return new Set(found?.files.map(({ name }) => name));
}

/** A format that contains only this record. */
function decoded(record: FoundRecord): Format {
  return { name: 'text', timed: true, readHead: () => false, decode: () => record };
}

function joinColumns({ level, source, tags = [], message, context, contextText }: FoundRecord): string {
  const fields = contextText ?? (context && JSON.stringify(context));
  const parts = [level, source, ...tags.map((tag) => `[${tag}]`), message, fields];
  return parts.filter((part) => part !== undefined).join(' ');
}
