/** A value of JSON that is neither an object nor an array. */
export interface Leaf {
  /** Names from the outside in, with dots between them; arrays have none. */
  path: string;
  /** The string, or the number as written. */
  text: string;
  kind: LeafKind;
}

export type LeafKind = 'string' | 'number' | 'boolean' | 'null';

type Emit = (leaf: Leaf) => void;

/** The leaves of an object, in its order. */
export function objectLeaves(value: Readonly<Record<string, unknown>>): Leaf[] {
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
export function pathValues(object: Readonly<Record<string, unknown>>, path: string): unknown[] {
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
export function textLeaves(text: string): Leaf[] {
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
