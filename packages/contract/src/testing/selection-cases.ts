import type { CountId } from '../node-state.ts';
import { getRoute } from '../routes/routes.ts';

/* Every parameter by which records are selected, with a value that changes what is found in the files below. */

export interface SelectionCase {
  /** The parameters that it is compared with; none unless given. */
  beside?: string;
  /** The parameter, after those. */
  given: string;
}

/** What requests about records have besides their selection: how much is read, and what the response has. */
const OTHERS: ReadonlySet<string> = new Set([
  'budget',
  'bucket',
  'buckets',
  'newSince',
  'onlyNew',
  'by',
  'value',
  'Last-Event-ID',
]);

export const DAY = '2026-11-15';

/** A line of JSON with all columns. */
function line(second: number, level: string, words: { source: string; component: string; message: string }): string {
  const { source, component, message } = words;
  const time = `${DAY}T12:00:${String(second).padStart(2, '0')}Z`;
  return `${JSON.stringify({ time, level, caller: source, logger: component, msg: message, shard: second })}\n`;
}

export const SELECTION_FILES: Readonly<Record<string, string>> = {
  'a.log': [
    line(1, 'info', { source: 'a.go:1', component: 'alpha', message: 'one Word' }),
    line(2, 'error', { source: 'b.go:2', component: 'beta', message: 'two' }),
    line(3, 'info', { source: 'a.go:1', component: 'alpha', message: 'three' }),
    line(4, 'info', { source: 'a.go:1', component: 'alpha', message: 'four' }),
  ].join(''),
  'b.log': [
    line(5, 'info', { source: 'a.go:1', component: 'alpha', message: 'five' }),
    line(6, 'warn', { source: 'a.go:1', component: 'alpha', message: 'six' }),
  ].join(''),
};

/** Stands for the cursor of the record of the third second. */
export const CURSOR = 'CURSOR';

/** By the name of the parameter. */
export const SELECTION_CASES: Readonly<Record<string, SelectionCase>> = {
  nodes: { given: 'nodes=nobody' },
  role: { given: 'role=other' },
  label: { given: 'label=zone=other' },
  src: { given: 'src=b.log' },
  store: { given: 'store=archive' },
  floor: { given: `floor=*=${Date.parse(`${DAY}T12:00:04Z`)}` },
  from: { given: `from=${DAY}T12:00:03Z` },
  to: { given: `to=${DAY}T12:00:03Z` },
  level: { given: 'level=warn' },
  q: { given: 'q=word' },
  regex: { given: 'regex=t.o' },
  not: { given: 'not=two' },
  case: { beside: 'q=word', given: 'case=sensitive' },
  source: { given: 'source=b.go:2' },
  component: { given: 'component=beta' },
  query: { given: 'query=shard%3D3' },
  order: { given: 'order=oldest' },
  limit: { given: 'limit=1' },
  before: { beside: 'q=three', given: 'before=1' },
  after: { beside: 'q=three', given: 'after=1' },
  cursor: { beside: 'src=a.log', given: `cursor=${CURSOR}` },
  record: { beside: 'src=a.log', given: `record=${CURSOR}` },
  time: { given: `time=${DAY}T12:00:03Z` },
  offset: { beside: 'src==a.log', given: 'offset=1' },
  until: { beside: 'src=a.log', given: `until=${CURSOR}` },
  raw: { given: 'raw=true' },
  fields: { given: 'fields=shard' },
  back: { beside: `time=${DAY}T12:00:00Z`, given: 'back=2' },
  positions: { beside: `time=${DAY}T12:00:00Z`, given: `positions=@a=${CURSOR}` },
};

/** The parameters of a route by which records are selected; each must have a case. */
export function selectionNames(route: 'logSearch' | 'logFollow' | CountId): string[] {
  return getRoute(route).parameters.flatMap(({ name }) => (OTHERS.has(name) ? [] : [name]));
}
