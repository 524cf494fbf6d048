import { groupFamilies } from '../../file/families.ts';
import type { Format } from '../../parse/format.ts';
import { levelRank } from '../../parse/level.ts';
import type { FoundRecord, LogSelection, RecordFilter } from '../../types.ts';
import { RecordMatcher } from './record-matcher.ts';
import { compileRegex } from './regex.ts';

/**
 * The conditions of a search for records that are no longer in a file, by the engine's own matcher, so that a snapshot
 * of a log gives what the log gave. `files` are all names the records may have: they decide what is one family. Text is
 * looked for in `raw`; in the columns of a record that was kept without it. Rejects with REGEX_INVALID.
 */
export async function createRecordFilter(
  { file, family, ...filter }: LogSelection & RecordFilter,
  files: readonly string[],
): Promise<(record: FoundRecord) => boolean> {
  const { regex, caseSensitive = false } = filter;
  const matcher = new RecordMatcher(
    filter,
    regex === undefined ? undefined : await compileRegex(regex, { caseSensitive }),
  );
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

/** What conditions on the text of a record are about. */
export function searchableText(record: FoundRecord): Buffer {
  return Buffer.from(`${record.raw ?? joinColumns(record)}\n`);
}

/** The names that form this log; the live file may hold none of the records. */
function familyFiles(family: string, files: readonly string[]): ReadonlySet<string> {
  const found = groupFamilies([...new Set([...files, family])]).find(({ name }) => name === family);
  return new Set(found?.files.map(({ name }) => name));
}

/** A format that has only this record. */
function decoded(record: FoundRecord): Format {
  return { name: 'text', timed: true, readHead: () => false, decode: () => record };
}

function joinColumns({ level, source, tags = [], message, context, contextText }: FoundRecord): string {
  const fields = contextText ?? (context && JSON.stringify(context));
  const parts = [level, source, ...tags.map((tag) => `[${tag}]`), message, fields];
  return parts.filter((part) => part !== undefined).join(' ');
}
