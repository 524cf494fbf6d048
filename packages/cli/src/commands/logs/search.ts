import type { SearchQuery } from '@porthole/logs';
import { interruptSignal } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { contextCounts, recordFilter, recordStyle, shownZone } from '../../records/record-flags.ts';
import { recordOutput } from '../../records/record-output.ts';
import { RecordRun } from '../../records/record-run.ts';
import { openSources } from '../../sources/open-sources.ts';

const DEFAULT_LIMIT = 1000;

/** Prints records containing a text as they are found. */
export async function run(given: Invocation): Promise<number> {
  const [text = '', ...targets] = given.args;
  const invocation = given.with({ grep: [text, ...given.texts('grep')] });
  if (invocation.isOn('explain')) return (await import('../../records/explain-filter.ts')).explainFilter(invocation);
  const { fields } = recordOutput(invocation);
  const signal = interruptSignal();
  const { sources, close } = await openSources(invocation, targets);
  const zone = shownZone(invocation, sources);
  const style = recordStyle(invocation, sources, zone);
  const { before, after } = contextCounts(invocation);
  const records = new RecordRun(invocation, { style, hasContext: before + after > 0, signal });
  try {
    const order = invocation.isOn('oldest') ? 'oldest' : 'newest';
    const cursor = invocation.text('cursor');
    const limit = parseLimit(invocation);
    const queries = sources.map((source) => {
      const query: Omit<SearchQuery, 'limit'> = {
        ...recordFilter(invocation, source, zone),
        order,
        before,
        after,
        ...(style.format === 'raw' && { raw: true }),
        ...(fields.length > 0 && { fields }),
        ...(cursor !== undefined && { start: { cursor } }),
      };
      return { source, query, count: limit };
    });
    await records.printMerged(queries, { order, limit });
    await records.finish();
    records.printReceipt({ limit, isAlways: true });
    return records.exitCode();
  } finally {
    records.end();
    await close();
  }
}

function parseLimit(invocation: Invocation): number {
  const given = invocation.text('limit') ?? String(DEFAULT_LIMIT);
  return given === 'all' ? Number.POSITIVE_INFINITY : Number(given);
}
