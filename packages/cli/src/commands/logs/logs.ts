import type { SearchQuery } from '@porthole/logs';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { mergeRecords, type SourcedRecord } from '../../records/merge-sources.ts';
import { contextCounts, recordFilter, recordStyle, shownZone } from '../../records/record-flags.ts';
import { recordOutput } from '../../records/record-output.ts';
import { RecordRun } from '../../records/record-run.ts';
import type { LogSource } from '../../sources/log-source.ts';
import { openSources } from '../../sources/open-sources.ts';

const DEFAULT_TAIL = 200;

interface BaseQuery {
  source: LogSource;
  /** Without its order and limit. */
  query: Omit<SearchQuery, 'limit' | 'order'>;
  /** One record more is requested, to know whether there is one; with a filter that could take a scan of everything. */
  hasOneMore: boolean;
}

/** Prints the newest records, all records from a start on, or with --follow new ones as they are logged. */
export async function run(invocation: Invocation): Promise<number> {
  if (invocation.isOn('explain')) return (await import('../../records/explain-filter.ts')).explainFilter(invocation);
  const { fields } = recordOutput(invocation);
  const signal = interruptSignal();
  const { sources, close } = await openSources(invocation, invocation.args);
  try {
    const zone = shownZone(invocation, sources);
    const style = recordStyle(invocation, sources, zone);
    const tail = parseTail(invocation);
    if (invocation.isOn('follow')) {
      const { follow } = await import('../../records/follow.ts');
      return await follow(invocation, { sources, zone, style, signal, tail, fields });
    }
    const { before, after } = contextCounts(invocation);
    const records = new RecordRun(invocation, { style, hasContext: before + after > 0, signal });
    const raw = style.format === 'raw';
    const queries = sources.map((source): BaseQuery => {
      const filter = recordFilter(invocation, source, zone);
      const wanted = { ...(raw && { raw }), ...(fields.length > 0 && { fields }) };
      const query = { ...filter, before, after, ...wanted, ...parseStart(invocation, sources) };
      return { source, query, hasOneMore: invocation.terminal.isWatched && Object.keys(filter).length === 0 };
    });
    try {
      if (tail === Number.POSITIVE_INFINITY) await printAll(records, queries);
      else await printNewest(records, queries, tail);
      await records.finish();
      if (tail === 0) return EXIT.ok;
      records.printReceipt({ limit: tail, isAlways: false, isSure: queries.every(({ hasOneMore }) => hasOneMore) });
      return records.exitCode();
    } finally {
      records.end();
    }
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
  if (given !== undefined) return given === 'all' ? Number.POSITIVE_INFINITY : Number(given);
  const hasStart = invocation.text('since') !== undefined || invocation.text('cursor') !== undefined;
  return hasStart ? Number.POSITIVE_INFINITY : DEFAULT_TAIL;
}

/** A cursor is a position in one log, or in the logs of one node. */
function parseStart(invocation: Invocation, sources: readonly LogSource[]): Pick<SearchQuery, 'start'> {
  const cursor = invocation.text('cursor');
  if (cursor === undefined) return {};
  if (sources.length > 1) throw new ProgramError('--cursor needs a single file, directory or node');
  if (invocation.text('tail') !== undefined && invocation.text('tail') !== 'all')
    throw new ProgramError('--cursor cannot be combined with --tail');
  return { start: { cursor } };
}
