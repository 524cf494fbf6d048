/* Queries evaluated in the slow and obvious way, from their documentation: nothing of the engine is used. */
import type { FieldNode, QueryNode, RecordFields } from '../types.ts';

export interface SlowSubject {
  fields: RecordFields;
  text: string;
}

const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

export function slowMatches(node: QueryNode, { fields, text }: SlowSubject, caseSensitive = false): boolean {
  switch (node.kind) {
    case 'and':
      return node.nodes.every((each) => slowMatches(each, { fields, text }, caseSensitive));
    case 'or':
      return node.nodes.some((each) => slowMatches(each, { fields, text }, caseSensitive));
    case 'not':
      return !slowMatches(node.node, { fields, text }, caseSensitive);
    case 'text':
      if (caseSensitive || node.caseSensitive) return text.includes(node.text);
      return fold(text, node.text).includes(fold(node.text, node.text));
    case 'regex':
      return toRegex(node, caseSensitive).test(text);
    case 'fieldRegex':
      return slowValues(fields, node.field).some((value) => toRegex(node, caseSensitive).test(value));
    case 'exists':
      return slowValues(fields, node.field).length > 0;
    case 'field': {
      const values = slowValues(fields, node.field);
      if (node.operator === '!=') {
        return values.length > 0 && !values.some((value) => valueMatches({ ...node, operator: '=' }, value));
      }
      return values.some((value) => valueMatches(node, value));
    }
  }
}

function toRegex(node: { pattern: string; caseSensitive?: true }, caseSensitive: boolean): RegExp {
  return new RegExp(node.pattern, caseSensitive || node.caseSensitive ? 'mu' : 'imu');
}

/** All values of a field of a record. */
export function slowValues(record: RecordFields, name: string): string[] {
  if (name === 'level') return record.level ? [record.level] : [];
  if (name === 'source') return record.source === undefined ? [] : [record.source];
  if (name === 'component') return record.tags ?? [];
  if (name === 'message') return [record.message];
  const path = name.replace(/^context\./, '');
  const inContext = slowLeaves(record).filter(([leaf]) => leaf === path);
  const inMessage = slowPairs(record.message).filter(([key]) => key === path);
  return (inContext.length > 0 ? inContext : inMessage).map(([, value]) => value);
}

/** All names of fields that a record has. */
export function slowNames(record: RecordFields): string[] {
  const paths = [...slowLeaves(record), ...slowPairs(record.message)].map(([path]) => path);
  const columns = ['level', 'source', 'component', 'message'];
  const names = paths.map((path) => (columns.includes(path) || path.startsWith('context.') ? `context.${path}` : path));
  return [...new Set([...columns, ...names])].filter((name) => slowValues(record, name).length > 0);
}

function slowLeaves({ context, contextText }: RecordFields): [string, string][] {
  const text = contextText ?? (context ? JSON.stringify(context) : '{}');
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  const leaves: [string, string][] = [];
  const read = (path: string[]): void => {
    const token = tokens.shift() ?? '';
    if (token !== '{' && token !== '[') {
      leaves.push([path.join('.'), token.startsWith('"') ? (JSON.parse(token) as string) : token]);
      return;
    }
    while (tokens[0] !== '}' && tokens[0] !== ']') {
      const key = token === '{' ? [JSON.parse(tokens.splice(0, 2)[0] ?? '') as string] : [];
      read([...path, ...key]);
      if (tokens[0] === ',') tokens.shift();
    }
    tokens.shift();
  };
  read([]);
  return leaves;
}

function slowPairs(message: string): [string, string][] {
  const pair = /(?<=^|[\s([{,;"'])([A-Za-z_@][\w.@/-]*)=(?:"((?:\\["\\]|[^"])*?)"|([^\s,;)\]}"']+))/g;
  return [...message.matchAll(pair)].map(([, key = '', quoted, bare = '']) => [
    key,
    quoted?.replace(/\\(["\\])/g, '$1') ?? bare,
  ]);
}

/** Only A to Z of ASCII text fold. */
function fold(text: string, wanted: string): string {
  const isAscii = [...wanted].every((letter) => letter < '\x80');
  return isAscii ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text.toLowerCase();
}

function valueMatches({ field, operator, value, wildcard }: FieldNode, text: string): boolean {
  if (operator === '=' || operator === ':') {
    if (field === 'level' && !wildcard) return text === toLevel(value);
    if (wildcard || operator === ':') return containsWords(text, value, { wildcard, isWhole: operator === '=' });
    if (field === 'source') {
      return [text, text.replace(/:\d+$/, '')].some((each) => each === value || each.endsWith(`/${value}`));
    }
    if (fold(text, value) === fold(value, value)) return true;
    const [one, other] = [toQuantity(text), toQuantity(value)];
    if (field === 'component' || !one || !other || /e/i.test((text + value).replace(/[a-df-z]/gi, ''))) return false;
    return quantityOrder(text, value, field) === 0;
  }
  const order = field === 'level' ? levelOrder(text, value) : quantityOrder(text, value, field);
  if (order === undefined) return false;
  return { '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0, '!=': false }[operator];
}

function containsWords(text: string, value: string, { wildcard = false, isWhole = false }): boolean {
  const wanted = fold(value, value);
  const escapePart = (part: string) => part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const pattern = (wildcard ? wanted.split('*') : [wanted]).map(escapePart).join('[^]*');
  if (isWhole) return new RegExp(`^${pattern}$(?![^])`, 'u').test(fold(text, value));
  const isWord = (letter: string | undefined) => letter !== undefined && /^[\p{L}\p{N}_]$/u.test(letter);
  const letters = [...wanted];
  const before = isWord(letters[0]) ? '(?<![\\p{L}\\p{N}_])' : '';
  const after = isWord(letters.at(-1)) ? '(?![\\p{L}\\p{N}_])' : '';
  return new RegExp(`${before}${pattern}${after}`, 'u').test(fold(text, value));
}

function toLevel(name: string): string | undefined {
  return LEVELS.find((level) => level === name.toUpperCase()) ?? (name === 'warning' ? 'WARN' : undefined);
}

function levelOrder(text: string, value: string): number | undefined {
  const level = toLevel(value);
  return level === undefined ? undefined : LEVELS.indexOf(text) - LEVELS.indexOf(level);
}

interface Quantity {
  unit: 'none' | 'ns' | 'B';
  /** `top / 10 ** places`. */
  top: bigint;
  places: number;
}

const NS: Record<string, bigint> = { ns: 1n, us: 1000n, µs: 1000n, ms: 10n ** 6n, s: 10n ** 9n, m: 60n * 10n ** 9n };
const BYTES: Record<string, bigint> = { b: 1n, kb: 1000n, mb: 10n ** 6n, kib: 1024n, mib: 1024n ** 2n };

/** Only the units that the tests use. */
function toQuantity(text: string): Quantity | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0', unit = ''] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?(?:(?<![eE][+-]?\d+) ?([a-zA-Zµ]+))?$/.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const factor = unit === '' ? 1n : (NS[unit] ?? BYTES[unit.toLowerCase()]);
  if (factor === undefined) return undefined;
  const digits = BigInt(sign + whole + fraction) * factor;
  const places = fraction.length - Number(exponent);
  return {
    unit: unit === '' ? 'none' : NS[unit] === undefined ? 'B' : 'ns',
    top: places < 0 ? digits * 10n ** BigInt(-places) : digits,
    places: Math.max(0, places),
  };
}

function compare(one: Quantity, other: Quantity): number {
  const difference = one.top * 10n ** BigInt(other.places) - other.top * 10n ** BigInt(one.places);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

function quantityOrder(text: string, value: string, field: string): number | undefined {
  const [found, wanted] = [toQuantity(text), toQuantity(value)];
  if (!found || !wanted) return undefined;
  if (found.unit === wanted.unit) return compare(found, wanted);
  // The only unit in a name that the tests use.
  if (found.unit !== 'none' || wanted.unit !== 'ns' || !field.endsWith('_ms')) return undefined;
  return compare({ ...found, unit: 'ns', top: found.top * 10n ** 6n }, wanted);
}
