import type { SearchQuery } from '@porthole/logs';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { mergeRecords, type SourcedRecord } from '../../records/merge-sources.ts';
import {
  contextCounts,
  explainFilter,
  recordFilter,
  recordOutput,
  recordStyle,
  shownZone,
} from '../../records/record-flags.ts';
import { RecordRun } from '../../records/record-run.ts';
import type { LogSource } from '../../sources/log-source.ts';
import { explainMissingLog, openSources } from '../../sources/open-sources.ts';

const DEFAULT_TAIL = 200;
const DEFAULT_LIMIT = 1000;

interface BaseQuery {
  source: LogSource;
  /** Without its order and limit. */
  query: Omit<SearchQuery, 'limit' | 'order'>;
  /** One record more is requested, to know whether there is one; with a filter that could take a scan of everything. */
  hasOneMore: boolean;
}

/** Prints the newest records, all records from a start on, or with --follow new ones as they are logged. */
export function run(invocation: Invocation): Promise<number> {
  const tail = parseTail(invocation);
  return printRecords(invocation, { targets: invocation.args, tail }, async (records, queries) => {
    if (tail === Number.POSITIVE_INFINITY) await printAll(records, queries);
    else await printNewest(records, queries, tail);
    await records.finish();
    if (tail === 0) return EXIT.ok;
    records.printReceipt({ limit: tail, isAlways: false, isSure: queries.every(({ hasOneMore }) => hasOneMore) });
    return records.exitCode();
  });
}

/** Prints records containing a text as they are found. */
export function search(given: Invocation): Promise<number> {
  const [text = '', ...targets] = given.args;
  const invocation = given.with({ grep: [text, ...given.texts('grep')] });
  const order = invocation.isOn('oldest') ? 'oldest' : 'newest';
  const limit = toCount(invocation.text('limit') ?? String(DEFAULT_LIMIT));
  return printRecords(invocation, { targets }, async (records, queries) => {
    const found = queries.map(({ source, query }) => ({ source, query: { ...query, order } as const, count: limit }));
    await records.printMerged(found, { order, limit });
    await records.finish();
    records.printReceipt({ limit, isAlways: true });
    return records.exitCode();
  });
}

/** Opens the sources of a command line for what it prints. `tail`: records before those of `--follow`. */
async function printRecords(
  invocation: Invocation,
  { targets, tail }: { targets: readonly string[]; tail?: number },
  print: (records: RecordRun, queries: readonly BaseQuery[]) => Promise<number>,
): Promise<number> {
  if (invocation.isOn('explain')) return explainFilter(invocation);
  const { fields } = recordOutput(invocation);
  const signal = interruptSignal();
  const { sources, close } = await openSources(invocation, targets);
  try {
    const zone = shownZone(invocation, sources);
    const style = recordStyle(invocation, sources, zone);
    if (tail !== undefined && invocation.isOn('follow')) {
      const { follow } = await import('../../records/follow.ts');
      return await follow(invocation, { sources, zone, style, signal, tail, fields });
    }
    const { before, after } = contextCounts(invocation);
    const wanted = { ...(style.format === 'raw' && { raw: true }), ...(fields.length > 0 && { fields }) };
    const queries = sources.map((source): BaseQuery => {
      const filter = recordFilter(invocation, source, zone);
      const query = {
        ...filter,
        before,
        after,
        ...wanted,
        ...parseStart(invocation, tail === undefined ? [] : sources),
      };
      return { source, query, hasOneMore: invocation.terminal.isWatched && Object.keys(filter).length === 0 };
    });
    const records = new RecordRun(invocation, { style, hasContext: before + after > 0, signal });
    try {
      return await print(records, queries);
    } finally {
      records.end();
    }
  } catch (error) {
    throw await explainMissingLog(error, sources);
  } finally {
    await close();
  }
}

/** Streams oldest first: there may be more than fits into memory. */
function printAll(records: RecordRun, queries: readonly BaseQuery[]): Promise<void> {
  const all = queries.map(({ source, query }) => ({
    source,
    query: { ...query, order: 'oldest' as const },
    count: Number.POSITIVE_INFINITY,
  }));
  return records.printMerged(all, { order: 'oldest' });
}

/** Reads newest first, prints oldest first. */
async function printNewest(records: RecordRun, queries: readonly BaseQuery[], count: number): Promise<void> {
  const lanes = queries.map(({ source, query, hasOneMore }) =>
    records.lane({ source, query: { ...query, order: 'newest' }, count: hasOneMore ? count + 1 : count }),
  );
  const newest: SourcedRecord[] = [];
  for await (const batch of mergeRecords(lanes, { order: 'newest', limit: count, onMore: records.addMore }))
    newest.push(...batch);
  await records.print(oldestFirst(newest));
}

/** `isUnsure` refers to the previous record; reversed, the flag moves to the record after it. */
function oldestFirst(newest: readonly SourcedRecord[]): SourcedRecord[] {
  return newest
    .map(({ source, record: { isUnsure: _isUnsure, ...record } }, index) => {
      const isUnsure = newest[index + 1]?.record.isUnsure;
      return { source, record: { ...record, ...(isUnsure && { isUnsure }) } };
    })
    .reverse();
}

function parseTail(invocation: Invocation): number {
  const given = invocation.text('tail');
  if (given !== undefined) return toCount(given);
  const hasStart = invocation.text('since') !== undefined || invocation.text('cursor') !== undefined;
  return hasStart ? Number.POSITIVE_INFINITY : DEFAULT_TAIL;
}

function toCount(text: string): number {
  return text === 'all' ? Number.POSITIVE_INFINITY : Number(text);
}

/** A cursor is a position in one log, or in the logs of one node; a search fails where it is none of them. */
function parseStart(invocation: Invocation, sources: readonly LogSource[]): Pick<SearchQuery, 'start'> {
  const cursor = invocation.text('cursor');
  if (cursor === undefined) return {};
  if (sources.length > 1) throw new ProgramError('--cursor needs a single file, directory or node');
  if (invocation.text('tail') !== undefined && invocation.text('tail') !== 'all')
    throw new ProgramError('--cursor cannot be combined with --tail');
  return { start: { cursor } };
}
