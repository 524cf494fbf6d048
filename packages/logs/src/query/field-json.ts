import type { RecordFields } from '../parse/record-fields.ts';
import { canonicalField } from './field-name.ts';
import type { FieldJson } from './query-node.ts';
import { type RecordField, recordFields } from './record-fields.ts';

type FieldScalar = Exclude<FieldJson, readonly unknown[]>;

/** Requests all fields. */
export const ALL_FIELDS = '*';

/** The fields with these names, as `fields` of a response; those that the record does not have are absent. */
export function fieldJson(record: RecordFields, names: readonly string[]): Record<string, FieldJson> {
  const wanted = names.includes(ALL_FIELDS) ? undefined : names.map(canonicalField);
  const values = new Map<string, FieldScalar[]>(wanted?.map((name) => [name, []]));
  for (const field of recordFields(record)) {
    const known = values.get(field.name);
    if (known) known.push(fieldScalar(field));
    else if (!wanted) values.set(field.name, [fieldScalar(field)]);
  }
  // Not by assignment: a field may be named `__proto__`.
  return Object.fromEntries(
    [...values].flatMap(([name, list]) => {
      const [only] = list;
      return only === undefined ? [] : [[name, list.length === 1 ? only : list] as const];
    }),
  );
}

/** A number only if it serializes to the text in the log; otherwise that text. */
function fieldScalar({ text, kind }: RecordField): FieldScalar {
  if (kind === 'null') return null;
  if (kind === 'boolean') return text === 'true';
  if (kind === 'string') return text;
  return String(Number(text)) === text ? Number(text) : text;
}
