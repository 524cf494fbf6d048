import { type RecordField, recordFields } from '@porthole/logs/query';
import type { Row } from '../../../log-view/model/workspace-state.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';

/* The fields of the loaded records, for completion: what the user sees is what they most likely ask for. */

/** Field names, and the values of each with the number of loaded records that have it; the newest first. */
export type LoadedFields = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Newer rows say enough, and reading more would be noticed while typing. */
const MAX_RECORDS = 500;
const MAX_FIELDS = 200;
const MAX_VALUES = 50;
/** Longer ones are not offered. */
const MAX_VALUE_LENGTH = 120;

const fieldsByRecord = new WeakMap<ShownRecord, RecordField[]>();

export function loadedFields(rows: readonly Row[]): LoadedFields {
  const fields = new Map<string, Map<string, number>>();
  let left = MAX_RECORDS;
  for (let index = rows.length - 1; index >= 0 && left > 0; index--) {
    const row = rows[index];
    if (row?.kind !== 'record') continue;
    left--;
    for (const { name, text } of readFields(row.record)) addValue(fields, name, text);
  }
  return fields;
}

function readFields(record: ShownRecord): RecordField[] {
  const known = fieldsByRecord.get(record);
  if (known) return known;
  const fields = recordFields(record);
  fieldsByRecord.set(record, fields);
  return fields;
}

function addValue(fields: Map<string, Map<string, number>>, name: string, text: string): void {
  const values = fields.get(name) ?? new Map<string, number>();
  if (values.size === 0 && fields.size >= MAX_FIELDS && !fields.has(name)) return;
  fields.set(name, values);
  const isText = name === 'message' || text === '' || text.length > MAX_VALUE_LENGTH;
  if (isText || (values.size >= MAX_VALUES && !values.has(text))) return;
  values.set(text, (values.get(text) ?? 0) + 1);
}
