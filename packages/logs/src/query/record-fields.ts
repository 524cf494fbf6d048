import type { FieldJson, RecordFields } from '../types.ts';

/** Fields that are columns of a record. */
export const BUILT_IN_FIELDS = ['level', 'source', 'component', 'message'] as const;

export type BuiltInField = (typeof BUILT_IN_FIELDS)[number];

/** What a field's name in a query refers to: a column, or a leaf of the context or `key=value` pair with this path. */
export type FieldRef = { column: BuiltInField } | { leaf: string };

/** Means the leaf, also if a column has its name. */
const LEAF_PREFIX = 'context.';

export function resolveField(name: string): FieldRef {
  if (isBuiltIn(name)) return { column: name };
  return { leaf: name.startsWith(LEAF_PREFIX) ? name.slice(LEAF_PREFIX.length) : name };
}

/** The shortest name that refers to the leaf. */
export function leafName(path: string): string {
  return isBuiltIn(path) || path.startsWith(LEAF_PREFIX) ? LEAF_PREFIX + path : path;
}

/** The name as responses report it: `shard` for `context.shard`. */
export function canonicalField(name: string): string {
  const field = resolveField(name);
  return 'column' in field ? field.column : leafName(field.leaf);
}

function isBuiltIn(name: string): name is BuiltInField {
  return (BUILT_IN_FIELDS as readonly string[]).includes(name);
}

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

/** A value of JSON that is neither an object nor an array. */
interface Leaf {
  /** Names from the outside in, with dots between them; arrays have none. */
  path: string;
  /** The string, or the number as written. */
  text: string;
  kind: LeafKind;
}

export type LeafKind = 'string' | 'number' | 'boolean' | 'null';

type Emit = (leaf: Leaf) => void;

/** The leaves of an object, in its order. */
function objectLeaves(value: Readonly<Record<string, unknown>>): Leaf[] {
  const leaves: Leaf[] = [];
  addMembers(value, undefined, (leaf) => leaves.push(leaf));
  return leaves;
}

function addMembers(object: Readonly<Record<string, unknown>>, parent: string | undefined, emit: Emit): void {
  for (const key of Object.keys(object)) addValue(object[key], joinPath(parent, key), emit);
}

function addValue(value: unknown, path: string, emit: Emit): void {
  if (Array.isArray(value)) for (const element of value) addValue(element, path, emit);
  else if (typeof value === 'object' && value !== null) addMembers(value as Record<string, unknown>, path, emit);
  else emit({ path, text: String(value), kind: leafKind(value) });
}

/** The values of leaves with this path, in the order of the object. */
function pathValues(object: Readonly<Record<string, unknown>>, path: string): unknown[] {
  const values: unknown[] = [];
  addPath(object, path, values);
  return values;
}

function addPath(object: Readonly<Record<string, unknown>>, path: string, values: unknown[]): void {
  if (!path.includes('.')) {
    if (Object.hasOwn(object, path)) addLeafValues(object[path], values);
    return;
  }
  for (const key of Object.keys(object)) {
    if (key === path) addLeafValues(object[key], values);
    else if (path.startsWith(key) && path[key.length] === '.')
      addBelow(object[key], path.slice(key.length + 1), values);
  }
}

function addBelow(value: unknown, path: string, values: unknown[]): void {
  if (Array.isArray(value)) for (const element of value) addBelow(element, path, values);
  else if (typeof value === 'object' && value !== null) addPath(value as Record<string, unknown>, path, values);
}

function addLeafValues(value: unknown, values: unknown[]): void {
  if (Array.isArray(value)) for (const element of value) addLeafValues(element, values);
  else if (typeof value !== 'object' || value === null) values.push(value);
}

function leafKind(value: unknown): LeafKind {
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'boolean';
  return value === null ? 'null' : 'string';
}

function joinPath(parent: string | undefined, key: string): string {
  return parent === undefined ? key : `${parent}.${key}`;
}

/** The leaves of a JSON object given as valid text: numbers as written, members of duplicate keys included. */
function textLeaves(text: string): Leaf[] {
  const leaves: Leaf[] = [];
  new LeafReader(text, (leaf) => leaves.push(leaf)).readValue(undefined);
  return leaves;
}

/** Strings, punctuation, and numbers and words. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

class LeafReader {
  readonly #tokens: IterableIterator<RegExpMatchArray>;
  readonly #emit: Emit;
  #token = '';

  constructor(text: string, emit: Emit) {
    this.#tokens = text.matchAll(TOKEN);
    this.#emit = emit;
    this.#next();
  }

  /** Reads the value that starts with the current token. */
  readValue(path: string | undefined): void {
    const first = this.#next();
    if (first === '{') this.#readMembers(path);
    else if (first === '[') this.#readElements(path);
    else if (first.startsWith('"')) this.#emit({ path: path ?? '', text: JSON.parse(first) as string, kind: 'string' });
    else this.#emit({ path: path ?? '', text: first, kind: wordKind(first) });
  }

  #readMembers(parent: string | undefined): void {
    while (this.#token !== '}' && this.#token !== '') {
      const key = JSON.parse(this.#next()) as string;
      this.#next();
      this.readValue(joinPath(parent, key));
      if (this.#token === ',') this.#next();
    }
    this.#next();
  }

  #readElements(path: string | undefined): void {
    while (this.#token !== ']' && this.#token !== '') {
      this.readValue(path);
      if (this.#token === ',') this.#next();
    }
    this.#next();
  }

  /** Moves to the next token and returns the one before. */
  #next(): string {
    const token = this.#token;
    this.#token = this.#tokens.next().value?.[0] ?? '';
    return token;
  }
}

function wordKind(word: string): LeafKind {
  if (word === 'true' || word === 'false') return 'boolean';
  return word === 'null' ? 'null' : 'number';
}

/** A `key=value` pair of a message. */
interface Pair {
  key: string;
  value: string;
  quoted: boolean;
}

const KEY_CHARACTER = /[\w.@/-]/;
const KEY_START = /[A-Za-z_@]/;
const BEFORE_KEY = /[\s([{,;"']/;
const BARE_END = /[\s,;)\]}"']/g;

/**
 * The pairs in a text: `shard=13`, `"user"="a b"` is none. A key starts the text or follows white space or one of
 * `([{,;"'`; its value is quoted (`"..."` with `\"` and `\\`) or ends before white space, a quote or one of `,;)]}`.
 * Takes linear time: a quoted value that is not closed can only be the last one.
 */
export function messagePairs(text: string): Pair[] {
  const pairs: Pair[] = [];
  let from = 0;
  for (let at = text.indexOf('='); at >= 0; at = text.indexOf('=', from)) {
    const keyStart = findKey(text, at, from);
    from = at + 1;
    if (keyStart < 0) continue;
    const quoted = text[at + 1] === '"';
    const end = quoted ? quotedEnd(text, at + 1) : bareEnd(text, at + 1);
    if (end <= at + 1) continue;
    const value = quoted ? text.slice(at + 2, end - 1).replace(/\\(["\\])/g, '$1') : text.slice(at + 1, end);
    pairs.push({ key: text.slice(keyStart, at), value, quoted });
    from = end;
  }
  return pairs;
}

/** Where the key before the `=` starts, not before `from`; -1 if there is none. */
function findKey(text: string, equals: number, from: number): number {
  let start = equals;
  while (start > from && KEY_CHARACTER.test(text[start - 1] ?? '')) start--;
  if (start === equals || !KEY_START.test(text[start] ?? '')) return -1;
  return start === 0 || BEFORE_KEY.test(text[start - 1] ?? '') ? start : -1;
}

/** After the closing quote; -1 if there is none. */
function quotedEnd(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '"') return at + 1;
    if (text[at] === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\')) at++;
  }
  return -1;
}

function bareEnd(text: string, start: number): number {
  BARE_END.lastIndex = start;
  return BARE_END.exec(text)?.index ?? text.length;
}
