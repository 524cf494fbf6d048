/* Random queries on random logs. */
import fc from 'fast-check';
import type { Level, RecordFilter } from '../types.ts';
import { SOURCES, TAGS, WORDS } from './random-logs.ts';
import { type QuerySpec, queryOf, toQuery } from './random-query.ts';
import type { SlowRecord, SlowStart } from './slow-logs.ts';

const term = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.constantFrom('TIMEOUT', 'disk', 'ÄRGER', 'x', '\t', 'at main()\n', 'INFO\ta.go:1', 'nowhere', '\0', '"42"}'),
);

/** RE2 and JavaScript agree on these. */
const pattern = fc.constantFrom(
  ...['time(out)?', '^2026-..-.. [0-2]', 'flush$', 'q=[0-9]+', 'a\\.b', '(disk|flush) ', 'ERR', 'x{3,}t', '\\tINFO\\t'],
  ...['^goroutine', 'Disk\\s+timeout', '[^a-z]日', 'no[a-z]* date', '-+$', '\\bmain\\(\\)', 'zzz'],
);

/** A filter whose times are fractions of the log's time range. */
export interface FilterSpec {
  from?: number;
  to?: number;
  minLevel?: Level;
  terms?: string[];
  excluded?: string[];
  caseSensitive?: boolean;
  regex?: string;
  source?: string;
  component?: string;
  /** Chosen among the fields of the records. */
  query?: QuerySpec;
}

const querySpec = queryOf({ text: term, pattern });

const share = fc.oneof(fc.nat(1000), fc.constantFrom(-100, 0, 1000, 1100));

export const filterSpec: fc.Arbitrary<FilterSpec> = fc.oneof(
  fc.constant({}),
  fc.record(
    {
      from: share,
      to: share,
      minLevel: fc.constantFrom('TRACE', 'INFO', 'WARN', 'ERROR', 'FATAL') as fc.Arbitrary<Level>,
    },
    { requiredKeys: [] },
  ),
  fc.record(
    {
      from: share,
      to: share,
      minLevel: fc.constantFrom('INFO', 'ERROR') as fc.Arbitrary<Level>,
      terms: fc.array(term, { maxLength: 2 }),
      excluded: fc.array(term, { maxLength: 1 }),
      caseSensitive: fc.boolean(),
      regex: pattern,
      source: fc.constantFrom(...SOURCES, 'runtime.go', 'time.go', 'time.go:7', 'untime.go'),
      component: fc.constantFrom(...TAGS, 'BROKER'),
      query: querySpec,
    },
    { requiredKeys: [] },
  ),
  fc.record({ query: querySpec }),
);

/** The times of records, as fractions in thousandths. */
export function toFilter(
  { from, to, query, ...rest }: FilterSpec,
  records: readonly Pick<SlowRecord, 'timeMs' | 'whole'>[],
): RecordFilter {
  const times = records.map(({ timeMs }) => timeMs).filter((timeMs) => !Number.isNaN(timeMs));
  const first = times.reduce((a, b) => Math.min(a, b), Infinity);
  const last = times.reduce((a, b) => Math.max(a, b), -Infinity);
  const at = (part: number) => (times.length === 0 ? 0 : Math.round(first + ((last - first) * part) / 1000));
  const node = query && toQuery(query, records);
  return {
    ...rest,
    ...(node && { query: node }),
    ...(from !== undefined && { fromMs: at(from) }),
    ...(to !== undefined && { toMs: at(to) }),
  };
}

/** Where to begin, as a kind of start point and a fraction of the log. */
export interface StartSpec {
  kind: 'offset' | 'time' | 'cursor' | 'record' | 'none';
  at: number;
}

export const startSpec: fc.Arbitrary<StartSpec> = fc.record({
  kind: fc.constantFrom('none', 'offset', 'time', 'cursor', 'record'),
  at: fc.nat(1_000_000),
});

/** The same start point for the reference; if it is a cursor, that of the given record. */
export function toSlowStart({ kind, at }: StartSpec, records: readonly SlowRecord[]): SlowStart | undefined {
  const record = records[at % Math.max(1, records.length)];
  if (!record || kind === 'none') return undefined;
  if (kind === 'offset') return { offset: at % (record.end + 3) };
  if (kind === 'time') return { timeMs: (Number.isNaN(record.timeMs) ? 0 : record.timeMs) + (at % 3) - 1 };
  return kind === 'cursor' ? { after: record } : { at: record };
}
