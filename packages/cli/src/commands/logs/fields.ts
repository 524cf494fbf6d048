import { type ClusterFields, isDistinctMinimum } from '@porthole/contract';
import type { Fields, FieldsQuery, Zone } from '@porthole/logs';
import { interruptSignal } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Column } from '../../output/fit-columns.ts';
import { formatTable } from '../../output/format-table.ts';
import { visibleText } from '../../output/visible-text.ts';
import { countRecords } from '../../records/count-records.ts';
import { recordFilter } from '../../records/record-flags.ts';
import type { LogSource } from '../../sources/log-source.ts';

const DEFAULT_FIELDS = 100;

const COLUMNS: readonly Column[] = [
  { title: 'FIELD', minWidth: 12 },
  { title: 'TYPE', hideRank: 1 },
  { title: 'RECORDS', align: 'right', hideRank: 2 },
  { title: 'VALUES', align: 'right' },
  { title: 'EXAMPLES' },
];

/** Longer examples say no more about what a field holds. */
const EXAMPLE_LENGTH = 40;

/** Prints the fields of matching records: types, how many records have them, how many values there are. */
export function run(invocation: Invocation): Promise<number> {
  const signal = interruptSignal();
  return countRecords(invocation, {
    query: (source, zone) => source.state.logFields(buildQuery(invocation, source, zone), { signal }),
    text: (fields, _zone, target) => formatFields(fields, invocation, target),
    isEmpty: ({ fields }) => fields.length === 0,
    signal,
  });
}

function buildQuery(invocation: Invocation, source: LogSource, zone: Zone): FieldsQuery {
  const limit = invocation.number('limit') ?? DEFAULT_FIELDS;
  return { ...source.selection, ...recordFilter(invocation, source, zone), limit };
}

function formatFields(result: Fields | ClusterFields, invocation: Invocation, target: string | undefined): string {
  const format = invocation.text('output') ?? 'table';
  if (format === 'json') return `${JSON.stringify({ ...result, ...(target !== undefined && { target }) })}\n`;
  const { fields, totalFields, records, isSample } = result;
  if (format === 'names') return fields.map(({ name }) => `${name}\n`).join('');
  const { terminal } = invocation;
  if (isSample)
    terminal.note(`a sample: ${records} records were examined; narrow the time range with --since to examine all`);
  if (totalFields > fields.length)
    terminal.note(
      `${'members' in result ? 'at least ' : ''}${totalFields - fields.length} rarer fields not shown; raise --limit to see them`,
    );
  if (fields.length === 0) return '';
  const rows = fields.map((field) => [
    visibleText(field.name),
    field.types.join(', '),
    String(field.records),
    `${distinctMark(field)}${field.distinct}`,
    field.examples.map(formatExample).join(', '),
  ]);
  return formatTable(COLUMNS, rows, terminal);
}

function distinctMark(field: Fields['fields'][number]): '' | '~' | '>=' {
  if (isDistinctMinimum(field)) return '>=';
  return field.isDistinctExact ? '' : '~';
}

function formatExample(example: string): string {
  const line = visibleText(example).replace(/\s+/g, ' ');
  return line.length > EXAMPLE_LENGTH ? `${line.slice(0, EXAMPLE_LENGTH - 1)}…` : line;
}
