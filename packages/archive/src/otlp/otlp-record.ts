import { createHash } from 'node:crypto';
import { parseTraceparent } from '@porthole/contract';
import type { FieldJson, FoundRecord, Level } from '@porthole/logs/types';
import type { ShippedFile } from '../ship/line-writer.ts';

/** An attribute: its type is that of the value in the log. */
export type Attribute = readonly [key: string, value: FieldJson];

/** A LogRecord of OTLP, before it is encoded. */
export interface OtlpRecord {
  /** 0: not known. */
  timeMs: number;
  observedMs: number;
  severity: { number: number; text: string } | undefined;
  body: string;
  attributes: readonly Attribute[];
  /** Hexadecimal. */
  traceId: string | undefined;
  spanId: string | undefined;
  flags: number | undefined;
  eventName: string | undefined;
}

/** The lowest number of each range: https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber */
const SEVERITIES: Readonly<Record<Level, number>> = { TRACE: 1, DEBUG: 5, INFO: 9, WARN: 13, ERROR: 17, FATAL: 21 };

/** Nanoseconds since 1970 are 64 bits, without a sign. */
const MAX_TIME_MS = Number(2n ** 64n / 1_000_000n) - 1;

/** Columns of a record, which have places of their own. */
const COLUMNS: ReadonlySet<string> = new Set(['level', 'message', 'source', 'component']);

/** What all records of a file have in common. */
export interface RecordOrigin {
  attributes: readonly Attribute[];
  /** What the ids of its records begin with. */
  id: string;
}

export function originOf({ cluster, node, log, file, file_id: fileId }: ShippedFile): RecordOrigin {
  const name = file.slice(file.lastIndexOf('/') + 1);
  const id = createHash('sha256')
    .update(JSON.stringify([cluster, node, log, fileId]))
    .digest('hex')
    .slice(0, 24);
  return {
    attributes: [
      ['log.file.name', name],
      ['porthole.log', log],
    ],
    id,
  };
}

/** `isEvent`: a record of the events of the node, which are named. */
export function toOtlpRecord(
  record: FoundRecord,
  { origin, observedMs, isEvent }: { origin: RecordOrigin; observedMs: number; isEvent: boolean },
): OtlpRecord {
  const { timeMs = 0, level, message, fields = {}, source, tags = [], offset, bytes } = record;
  const attributes = new Map<string, FieldJson>();
  for (const [name, value] of Object.entries(fields)) {
    const key = name.startsWith('context.') ? name.slice('context.'.length) : name;
    // An empty key is no attribute, and an event is named by its kind.
    if (!COLUMNS.has(name) && key !== '' && !(isEvent && key === 'kind')) attributes.set(key, value);
  }
  // These last: text of a log must not pass for them.
  for (const [key, value] of [...sourceAttributes(source), ...origin.attributes]) attributes.set(key, value);
  if (tags.length > 0) attributes.set('porthole.component', tags.length === 1 ? (tags[0] ?? '') : tags);
  // With its length: the same record with more lines is another one.
  attributes.set('log.record.uid', `${origin.id}.${offset}.${bytes}`);
  const kind = isEvent ? fields.kind : undefined;
  return {
    timeMs: timeMs > 0 && timeMs <= MAX_TIME_MS ? timeMs : 0,
    observedMs,
    severity: level && { number: SEVERITIES[level], text: level },
    body: message,
    attributes: [...attributes],
    ...traceOf(fields),
    eventName: typeof kind === 'string' ? `porthole.${kind}` : undefined,
  };
}

/** `file:line` of the code, or whatever else the log calls its source. */
function sourceAttributes(source: string | undefined): Attribute[] {
  if (source === undefined) return [];
  const [, path, line] = /^(.+):(\d{1,9})$/s.exec(source) ?? [];
  if (path === undefined) return [['code.file.path', source]];
  return [
    ['code.file.path', path],
    ['code.line.number', Number(line)],
  ];
}

/** How programs name the parts of a trace context, in lower case and without what separates words. */
const TRACE_FIELDS: ReadonlyMap<string, 'traceId' | 'spanId' | 'flags' | 'traceparent'> = new Map([
  ['traceid', 'traceId'],
  ['oteltraceid', 'traceId'],
  ['xb3traceid', 'traceId'],
  ['spanid', 'spanId'],
  ['otelspanid', 'spanId'],
  ['xb3spanid', 'spanId'],
  ['traceflags', 'flags'],
  ['traceparent', 'traceparent'],
]);

const LONGEST_TRACE_FIELD = 20;

type TraceFields = Pick<OtlpRecord, 'traceId' | 'spanId' | 'flags'>;

/** The trace that a record says it belongs to. What is not exactly an id stays an attribute and nothing else. */
function traceOf(fields: Readonly<Record<string, FieldJson>>): TraceFields {
  const found: Partial<Record<'traceId' | 'spanId' | 'flags' | 'traceparent', string>> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name.length > LONGEST_TRACE_FIELD || (typeof value !== 'string' && typeof value !== 'number')) continue;
    const part = TRACE_FIELDS.get(
      name
        .toLowerCase()
        .replace(/^context\./, '')
        .replace(/[._-]/g, ''),
    );
    if (part) found[part] ??= String(value);
  }
  const parent = parseTraceparent(found.traceparent);
  const traceId = hexId(found.traceId, 32) ?? parent?.traceId;
  const ownFlags = /^[\da-f]{2}$/i.test(found.flags ?? '') ? Number.parseInt(found.flags ?? '', 16) : undefined;
  // A span belongs to a trace: alone it is none.
  if (traceId === undefined) return { traceId, spanId: undefined, flags: undefined };
  const isParents = traceId === parent?.traceId;
  const spanId = hexId(found.spanId, 16) ?? (isParents ? parent.spanId : undefined);
  return { traceId, spanId, flags: ownFlags ?? (isParents ? parent.flags : undefined) };
}

/** Ids of traces with half of the digits, as Zipkin has them, are filled with zeros. */
function hexId(text: string | undefined, digits: 32 | 16): string | undefined {
  const id = text?.toLowerCase() ?? '';
  const isWhole = id.length === digits || (digits === 32 && id.length === 16);
  return isWhole && /^[\da-f]+$/.test(id) && !/^0+$/.test(id) ? id.padStart(digits, '0') : undefined;
}
