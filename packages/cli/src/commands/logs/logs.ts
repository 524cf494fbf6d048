import type { SearchQuery } from '@porthole/logs';
import { interruptSignal } from '../../interrupt.ts';
import type { Invocation } from '../../invocation.ts';
import { ProgramError } from '../../program-error.ts';
import { mergeRecords, type ToldRecord } from '../../records/merge-records.ts';
import { recordFilter, shownZone } from '../../records/record-filter.ts';
import { RecordRun } from '../../records/record-run.ts';
import { contextOf, recordStyle } from '../../records/record-style.ts';
import type { LogSource } from '../../where/log-source.ts';
import { openSources } from '../../where/open-sources.ts';

const DEFAULT_TAIL = 200;

/** A question without its order and how many records it wants. */
type Question = Omit<SearchQuery, 'limit' | 'order'>;

interface Asked {
  source: LogSource;
  question: Question;
}

/** The newest records, or all from a place on; or, if asked, what comes. */
export async function run(invocation: Invocation): Promise<number> {
  const signal = interruptSignal();
  const { sources, close } = await openSources(invocation, invocation.args);
  try {
    const zone = shownZone(invocation, sources);
    const style = recordStyle(invocation, sources, zone);
    const tail = tailOf(invocation);
    if (invocation.isOn('follow')) {
      const { follow } = await import('../../records/follow.ts');
      return await follow(invocation, { sources, zone, style, signal, tail });
    }
    const { before, after } = contextOf(invocation);
    const records = new RecordRun(invocation, { style, hasContext: before + after > 0, signal });
    const raw = style.format === 'raw';
    const asked = sources.map((source): Asked => {
      const filter = recordFilter(invocation, source, zone);
      return { source, question: { ...filter, before, after, ...(raw && { raw }), ...startOf(invocation, sources) } };
    });
    try {
      if (tail === Number.POSITIVE_INFINITY) await printAll(records, asked);
      else await printNewest(records, asked, tail);
      return records.exitCode();
    } finally {
      records.end();
    }
  } finally {
    await close();
  }
}

/** As they come, oldest first: there may be more than fits into memory. */
async function printAll(records: RecordRun, asked: readonly Asked[]): Promise<void> {
  const lanes = asked.map(({ source, question }) =>
    records.lane(source, { ...question, order: 'oldest' }, Number.POSITIVE_INFINITY),
  );
  for await (const batch of mergeRecords(lanes, { order: 'oldest' })) await records.print(batch);
}

/** Found from the end on, written the way they were logged. */
async function printNewest(records: RecordRun, asked: readonly Asked[], count: number): Promise<void> {
  const lanes = asked.map(({ source, question }) => records.lane(source, { ...question, order: 'newest' }, count));
  const newest: ToldRecord[] = [];
  for await (const batch of mergeRecords(lanes, { order: 'newest', limit: count })) newest.push(...batch);
  await records.print(oldestFirst(newest));
}

/** A record says whether its order with the one told before it is sure; turned around, that is the one behind it. */
function oldestFirst(newest: readonly ToldRecord[]): ToldRecord[] {
  return newest
    .map(({ source, record: { isUnsure: _isUnsure, ...record } }, index) => {
      const isUnsure = newest[index + 1]?.record.isUnsure;
      return { source, record: { ...record, ...(isUnsure && { isUnsure }) } };
    })
    .reverse();
}

function tailOf(invocation: Invocation): number {
  const given = invocation.text('tail');
  if (given !== undefined) return given === 'all' ? Number.POSITIVE_INFINITY : Number(given);
  const hasStart = invocation.text('since') !== undefined || invocation.text('cursor') !== undefined;
  return hasStart ? Number.POSITIVE_INFINITY : DEFAULT_TAIL;
}

/** A cursor names a place in one log, or in the logs of one node. */
function startOf(invocation: Invocation, sources: readonly LogSource[]): Pick<SearchQuery, 'start'> {
  const cursor = invocation.text('cursor');
  if (cursor === undefined) return {};
  if (sources.length > 1) throw new ProgramError('--cursor goes with one file, directory or node');
  if (invocation.text('tail') !== undefined && invocation.text('tail') !== 'all')
    throw new ProgramError('--cursor goes on behind a record: it does not go with --tail');
  return { start: { cursor } };
}
