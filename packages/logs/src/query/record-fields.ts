import type { RecordFields } from '../parse/record-fields.ts';
import { type FieldRef, leafName, resolveField } from './field-name.ts';
import { type LeafKind, objectLeaves, pathValues, textLeaves } from './json-leaves.ts';
import { messagePairs, type Pair } from './message-pairs.ts';

/** One value of a field. A field with several values occurs several times. */
export interface RecordField {
  /** As queries name it. */
  name: string;
  /** The string, or the number exactly as in the log. */
  text: string;
  /** Its type in JSON. A bare number in a message is a number. */
  kind: LeafKind;
}

/** All fields of a record: its columns, the leaves of its context, and other `key=value` pairs of its message. */
export function recordFields(record: RecordFields): RecordField[] {
  const fields: RecordField[] = [];
  const addText = (name: string, text: string) => fields.push({ name, text, kind: 'string' });
  if (record.level !== undefined) addText('level', record.level);
  if (record.source !== undefined) addText('source', record.source);
  for (const tag of record.tags ?? []) addText('component', tag);
  addText('message', record.message);
  const leaves = contextLeaves(record);
  for (const { path, text, kind } of leaves) fields.push({ name: leafName(path), text, kind });
  if (!record.message.includes('=')) return fields;
  const known = new Set(leaves.map(({ path }) => path));
  for (const pair of messagePairs(record.message)) {
    if (!known.has(pair.key)) fields.push({ name: leafName(pair.key), text: pair.value, kind: pairKind(pair) });
  }
  return fields;
}

/** The values of the field with this name, as in a query. */
export function fieldValues(record: RecordFields, name: string): string[] {
  return refValues(record, resolveField(name));
}

/** Like `fieldValues`, for a name that was resolved before. */
export function refValues(record: RecordFields, field: FieldRef): string[] {
  if ('leaf' in field) return leafValues(record, field.leaf);
  if (field.column === 'component') return record.tags ?? [];
  const text = record[field.column];
  return text === undefined ? [] : [text];
}

function leafValues(record: RecordFields, path: string): string[] {
  const values = contextValues(record, path);
  // A quoted value may contain what looks like a pair, so that the pairs before it must be read as well.
  if (values.length > 0 || !record.message.includes(`${path}=`)) return values;
  return messagePairs(record.message)
    .filter(({ key }) => key === path)
    .map(({ value }) => value);
}

function contextValues({ context, contextText }: RecordFields, path: string): string[] {
  if (contextText === undefined) return context ? pathValues(context, path).map(String) : [];
  return textLeaves(contextText)
    .filter((leaf) => leaf.path === path)
    .map(({ text }) => text);
}

function contextLeaves({ context, contextText }: RecordFields) {
  if (contextText !== undefined) return textLeaves(contextText);
  return context ? objectLeaves(context) : [];
}

function pairKind({ value, quoted }: Pair): LeafKind {
  if (quoted) return 'string';
  if (value === 'true' || value === 'false') return 'boolean';
  return /^-?\d+(?:\.\d+)?$/.test(value) ? 'number' : 'string';
}
