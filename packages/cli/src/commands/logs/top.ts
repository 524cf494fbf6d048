import { type ClusterTop, parseSpan } from '@porthole/contract';
import type { Top, TopQuery, Zone } from '@porthole/logs';
import { interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { formatTop } from '../../output/format-top.ts';
import { csvRow } from '../../output/record-layout.ts';
import { visibleText } from '../../output/visible-text.ts';
import { countRecords } from '../../records/count-records.ts';
import { recordFilter } from '../../records/record-flags.ts';
import type { LogSource } from '../../sources/log-source.ts';

const DEFAULT_VALUES = 10;

/** Prints the most frequent values of a field with their counts. */
export function run(invocation: Invocation): Promise<number> {
  const [by = '', ...targets] = invocation.args;
  const signal = interruptSignal();
  return countRecords(invocation, {
    targets,
    query: (source, zone) => source.state.logTop(buildQuery(invocation, { by, source, zone }), { signal }),
    text: (top, _zone, target) => formatCounts(top, invocation, target),
    isEmpty: ({ values }) => values.length === 0,
    signal,
  });
}

function buildQuery(
  invocation: Invocation,
  { by, source, zone }: { by: string; source: LogSource; zone: Zone },
): TopQuery {
  const span = invocation.text('bucket');
  const bucketMs = span === undefined ? undefined : parseSpan(span);
  if (span !== undefined && !bucketMs)
    throw new ProgramError(`invalid --bucket ${JSON.stringify(span)}: expected a duration like 1m or 6h`);
  const buckets = invocation.number('buckets');
  const values = invocation.texts('value');
  return {
    ...source.selection,
    ...recordFilter(invocation, source, zone),
    by,
    limit: invocation.number('limit') ?? DEFAULT_VALUES,
    ...(values.length > 0 && { values }),
    ...(buckets !== undefined && { buckets: Math.max(1, buckets) }),
    ...(bucketMs !== undefined && { bucketMs }),
  };
}

function formatCounts(top: Top | ClusterTop, invocation: Invocation, target: string | undefined): string {
  const format = invocation.text('output') ?? 'table';
  if (format === 'json') return `${JSON.stringify({ ...top, ...(target !== undefined && { target }) })}\n`;
  if (format === 'csv')
    return [[top.by, 'count'], ...top.values.map(({ value, count }) => [value, String(count)])].map(csvRow).join('');
  const { terminal } = invocation;
  const { values, others, missing, isExact, distinct } = top;
  if (values.length + others + missing === 0) return '';
  if (values.length + others === 0)
    terminal.note(`no matching record has the field ${visibleText(top.by)}; "porthole logs fields" lists the fields`);
  if (!isExact) {
    const most = Math.max(0, ...values.map(({ error = 0 }) => error));
    const bound = most > 0 ? `; counts marked >= may be too low by up to ${most}` : '';
    terminal.note(`about ${distinct} different values: estimated${bound}`);
  }
  return formatTop(top, terminal);
}
