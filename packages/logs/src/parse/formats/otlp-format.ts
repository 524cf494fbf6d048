import { type FormatOptions, MAX_HEAD_BYTES } from '../format.ts';
import { type Columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { isDigit, QUOTE } from './tokens/byte-scan.ts';
import { readLevelToken, readTimeToken } from './tokens/value-tokens.ts';

const START = '{"resourceLogs":[';
const START_BYTES = Buffer.from(START);

/** With its colon and without escapes: text inside of a value has its quotes escaped, so it is never taken for a key. */
const TIME = Buffer.from('"timeUnixNano":');
const OBSERVED_TIME = Buffer.from('"observedTimeUnixNano":');
const SEVERITY = Buffer.from('"severityNumber":');
const SEVERITY_TEXT = Buffer.from('"severityText":');

/**
 * Logs of OpenTelemetry as its collector writes them to files: a line is an export request with one or more log records.
 * The line is one record: with the time of the first of them, and the highest of their levels, so that no search for
 * errors misses one.
 */
export function createOtlpFormat({ zone }: FormatOptions): ShapedFormat {
  const readTime = (bytes: Buffer, key: Buffer, start: number, end: number) => {
    for (const [from, to] of values(bytes, key, start, end)) {
      const timeMs = readTimeToken(bytes, from, to, zone);
      // 0 stands for an unknown time.
      if (timeMs > 0) return timeMs;
    }
    return Number.NaN;
  };
  const format = defineFormat({
    name: 'otlp',
    maxHeadBytes: MAX_HEAD_BYTES,
    readStart(bytes, start, end, found) {
      if (
        end - start < START_BYTES.length ||
        bytes.compare(START_BYTES, 0, START_BYTES.length, start, start + START_BYTES.length) !== 0
      )
        return false;
      found.timeMs = readTime(bytes, TIME, start, end);
      if (Number.isNaN(found.timeMs)) found.timeMs = readTime(bytes, OBSERVED_TIME, start, end);
      for (const [from, to] of values(bytes, SEVERITY, start, end))
        found.rank = Math.max(found.rank, severityRank(bytes, from, to));
      if (found.rank > 0) return true;
      for (const [from, to] of values(bytes, SEVERITY_TEXT, start, end))
        found.rank = Math.max(found.rank, readLevelToken(bytes, from, to));
      return true;
    },
    readColumns,
  });
  return { ...format, header: START };
}

/** The tokens behind each occurrence of a key: numbers, and strings without their quotes. */
function* values(bytes: Buffer, key: Buffer, start: number, end: number): Generator<readonly [number, number]> {
  const line = bytes.subarray(0, end);
  for (let at = line.indexOf(key, start); at >= 0; at = line.indexOf(key, at + key.length)) {
    const valueAt = at + key.length;
    const from = bytes[valueAt] === QUOTE ? valueAt + 1 : valueAt;
    let to = from;
    while (to < end && isTokenByte(bytes[to])) to++;
    yield [from, to];
  }
}

function isTokenByte(byte = 0): boolean {
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 97 && lower <= 122) || byte === 95;
}

/** 1 to 4 are TRACE, 21 to 24 FATAL. */
function severityRank(bytes: Buffer, from: number, to: number): number {
  const number = to - from <= 2 && isDigit(bytes[from]) ? Number(bytes.toString('latin1', from, to)) : 0;
  return number >= 1 && number <= 24 ? Math.ceil(number / 4) : 0;
}

interface Attribute {
  key?: unknown;
  value?: unknown;
}

interface Exported {
  resourceLogs?: {
    resource?: { attributes?: Attribute[] };
    scopeLogs?: { scope?: { name?: unknown }; logRecords?: LogRecord[] }[];
  }[];
}

interface LogRecord {
  body?: unknown;
  attributes?: Attribute[];
  traceId?: unknown;
  spanId?: unknown;
}

function readColumns(line: string): Columns | undefined {
  try {
    return toColumns(JSON.parse(line) as Exported);
  } catch (error) {
    // Cut, or not what the specification has.
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The messages of all records, and what describes all of them: attributes only if there is one. */
function toColumns({ resourceLogs = [] }: Exported): Columns {
  const scopes = resourceLogs.flatMap(({ scopeLogs = [] }) => scopeLogs);
  const records = scopes.flatMap(({ logRecords = [] }) => logRecords);
  const [only] = records.length === 1 ? records : [];
  const resource = resourceLogs.flatMap(({ resource: of }) => of?.attributes ?? []);
  const shown = [...resource, ...(only?.attributes ?? [])].map(
    ({ key, value }) => [String(key), readValue(value)] as const,
  );
  const service = shown.find(([key]) => key === 'service.name')?.[1];
  const names = [service, ...scopes.map(({ scope }) => scope?.name)];
  const tags = [...new Set(names.filter((name): name is string => typeof name === 'string' && name !== ''))];
  const context = new Map<string, unknown>(shown);
  context.delete('service.name');
  for (const id of ['traceId', 'spanId'] as const) if (only?.[id]) context.set(id, only[id]);
  if (records.length > 1) context.set('logRecords', records.length);
  return {
    ...(tags.length > 0 && { tags }),
    message: records.map(({ body }) => toText(readValue(body))).join('\n'),
    ...(context.size > 0 && { context: Object.fromEntries(context) }),
  };
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

/** The value of an `AnyValue`. 64-bit integers are strings, and stay so. */
function readValue(any: unknown): unknown {
  if (typeof any !== 'object' || any === null) return undefined;
  const [[kind, value] = []] = Object.entries(any);
  const { values: items = [] } = (typeof value === 'object' && value !== null ? value : {}) as { values?: Attribute[] };
  if (kind === 'arrayValue') return items.map(readValue);
  if (kind === 'kvlistValue')
    return Object.fromEntries(items.map(({ key, value: of }) => [String(key), readValue(of)]));
  return value;
}
