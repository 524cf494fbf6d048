import { formatQuery, type QueryContext, queryContext, scanQuery } from '@porthole/contract';
import { type FieldOperator, recordFields } from '@porthole/logs/query';
import type { Row } from '../../log-view/model/workspace-state.ts';
import { formatCount } from '../../ui/format.ts';

export { explainQuery } from '@porthole/contract';

/* What is typed in the query box, and could be next. */

/** What a node knows: the fields of the selected logs, and the most frequent values of the field being typed. */
export interface RemoteFields {
  fields: readonly { name: string; types: readonly string[] }[];
  values: readonly { value: string; count: number }[];
}

interface KnownFields {
  loaded: LoadedFields;
  remote: RemoteFields;
}

export interface Completion {
  /** Shown, and compared with what is typed. */
  label: string;
  detail: string;
  /** Replaces the text of the range. */
  insert: string;
  start: number;
  end: number;
}

/** More would not be read. */
const MAX_COMPLETIONS = 12;

/** A longer value is no completion but a text. */
const MAX_VALUE_LENGTH = 120;

const BUILT_IN = [
  { name: 'level', detail: 'level' },
  { name: 'source', detail: 'source location' },
  { name: 'component', detail: 'component tag' },
  { name: 'message', detail: 'text of the message' },
] as const;

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

const OPERATORS: readonly { operator: FieldOperator; meaning: string }[] = [
  { operator: '=', meaning: 'is' },
  { operator: '!=', meaning: 'is not' },
  { operator: ':', meaning: 'contains the words' },
  { operator: '>', meaning: 'is more than' },
  { operator: '>=', meaning: 'is at least' },
  { operator: '<', meaning: 'is less than' },
  { operator: '<=', meaning: 'is at most' },
];

/** At the caret, the most likely first. */
export function findCompletions(text: string, caret: number, known: KnownFields): Completion[] {
  const context = queryContext(text, caret);
  const found = completionsFor(context, text, known);
  // A completion that changes nothing is none.
  const isChange = ({ insert, start, end }: Completion) => insert.trimEnd() !== text.slice(start, end);
  return found.filter(isChange).slice(0, MAX_COMPLETIONS);
}

function completionsFor(context: QueryContext, text: string, known: KnownFields): Completion[] {
  if (context.kind === 'value') return valueCompletions(context, known);
  if (context.kind === 'text') return [];
  if (context.kind === 'operator') return operatorCompletions('', context);
  const names = nameCompletions(context, known);
  // Only the name of a comparison is replaced.
  if (/^\s*[=<>:!]/.test(text.slice(context.end)))
    return names.map(({ insert, ...rest }) => ({ ...rest, insert: insert.replace(/[=<>:]+$/, '') }));
  const isWhole = knownNames(known).some(({ name }) => name === context.typed);
  return [...(isWhole ? operatorCompletions(context.typed, context) : []), ...names];
}

/** The field whose values are being typed at the caret. */
export function fieldBeingTyped(text: string, caret: number): string | undefined {
  const context = queryContext(text, caret);
  return context.kind === 'value' ? context.field : undefined;
}

type OtherContext = Exclude<QueryContext, { kind: 'value' }>;

function operatorCompletions(name: string, { start, end }: OtherContext): Completion[] {
  return OPERATORS.map(({ operator, meaning }) => {
    const insert = `${name === '' ? '' : fieldText(name)}${operator}`;
    return { label: insert, detail: meaning, insert, start, end };
  });
}

function nameCompletions({ typed, start, end }: OtherContext, known: KnownFields): Completion[] {
  const names = knownNames(known)
    .filter(({ name }) => name !== typed)
    .map(({ name, detail }) => ({
      label: name,
      detail,
      start,
      end,
      insert: `${fieldText(name)}${name === 'level' ? '>=' : name === 'message' ? ':' : '='}`,
    }));
  return byLikelihood(names, typed);
}

function knownNames({ loaded, remote }: KnownFields): { name: string; detail: string }[] {
  const details = new Map<string, string>();
  for (const { name, detail } of BUILT_IN) details.set(name, detail);
  for (const { name, types } of remote.fields) if (!details.has(name)) details.set(name, types.join(', '));
  for (const name of loaded.keys()) if (!details.has(name)) details.set(name, '');
  return [...details].map(([name, detail]) => ({ name, detail }));
}

function valueCompletions(
  { field, typed, start, end }: Extract<QueryContext, { kind: 'value' }>,
  known: KnownFields,
): Completion[] {
  const counts = new Map<string, string>();
  if (field === 'level') for (const level of LEVELS) counts.set(level, '');
  else {
    for (const { value, count } of known.remote.values) counts.set(value, `${formatCount(count)}×`);
    const values = [...(known.loaded.get(field) ?? [])].toSorted(([, a], [, b]) => b - a);
    for (const [value, count] of values) if (!counts.has(value)) counts.set(value, `${formatCount(count)}× loaded`);
  }
  const all = [...counts]
    .filter(([value]) => canComplete(value))
    .map(([value, detail]) => ({
      label: value,
      detail,
      start,
      end,
      insert: `${valueText(value)} `,
    }));
  return byLikelihood(all, typed.replace(/^"/, ''));
}

/** A field has one line, and nodes cut long values. */
function canComplete(value: string): boolean {
  return value !== '' && value.length <= MAX_VALUE_LENGTH && !/[\r\n]/.test(value);
}

/** Those that begin with the typed text, then those that contain it; each in the given order. */
function byLikelihood(all: readonly Completion[], typed: string): Completion[] {
  const wanted = typed.toLowerCase();
  const beginning = all.filter(({ label }) => label.toLowerCase().startsWith(wanted));
  const containing = all.filter(({ label }) => label.toLowerCase().indexOf(wanted) > 0);
  return [...beginning, ...containing];
}

/** The name of a field as queries write it, quoted if necessary. */
function fieldText(name: string): string {
  return formatQuery({ kind: 'exists', field: name }).slice(0, -':*'.length);
}

function valueText(value: string): string {
  return formatQuery({ kind: 'field', field: 'x', operator: '=', value }).slice('x='.length);
}

/* The fields of the loaded records, for completion: what the user sees is what they most likely ask for. */

/** Field names, and the values of each with the number of loaded records that have it; the newest first. */
type LoadedFields = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Newer rows say enough, and reading more would be noticed while typing. */
const MAX_RECORDS = 500;
const MAX_LOADED_FIELDS = 200;
const MAX_LOADED_VALUES = 50;
/** Longer ones are not offered. */
const MAX_LOADED_LENGTH = 120;

export function loadedFields(rows: readonly Row[]): LoadedFields {
  const fields = new Map<string, Map<string, number>>();
  const records = rows.flatMap((row) => (row.kind === 'record' ? [row.record] : [])).slice(-MAX_RECORDS);
  for (const record of records.reverse())
    for (const { name, text } of recordFields(record)) addValue(fields, name, text);
  return fields;
}

function addValue(fields: Map<string, Map<string, number>>, name: string, text: string): void {
  const values = fields.get(name) ?? new Map<string, number>();
  if (values.size === 0 && fields.size >= MAX_LOADED_FIELDS && !fields.has(name)) return;
  fields.set(name, values);
  const isText = name === 'message' || text === '' || text.length > MAX_LOADED_LENGTH;
  if (isText || (values.size >= MAX_LOADED_VALUES && !values.has(text))) return;
  values.set(text, (values.get(text) ?? 0) + 1);
}

/** The text in parts, every second one a comparison as it is typed: `level>=warn`, `-shard=7`, `user="a b"`. */
export function comparisonParts(text: string): string[] {
  const tokens = scanQuery(text);
  const parts: string[] = [];
  let end = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'term' || !token.operator || !token.node) continue;
    const before = tokens[index - 1];
    const start = before?.kind === 'not' && text.slice(before.start, token.start) === '-' ? before.start : token.start;
    parts.push(text.slice(end, start), text.slice(start, token.end));
    end = token.end;
  }
  return [...parts, text.slice(end)];
}
