import type { FieldJson } from '@porthole/logs/types';
import type { Attribute, OtlpRecord } from './otlp-record.ts';
import { ProtoWriter, readFields } from './protobuf.ts';

/** Whose records are in a request. */
export interface OtlpSource {
  resource: readonly Attribute[];
  scope: { name: string; version: string };
}

/** What a receiver says of a request: of a successful one how many records it has refused. */
export interface OtlpResponse {
  refused: number;
  detail: string;
}

/** One of the two encodings of OTLP over HTTP: https://opentelemetry.io/docs/specs/otlp/#otlphttp */
export interface OtlpFormat {
  contentType: string;
  /** Records are collected as such pieces, one after the other. */
  piece(record: OtlpRecord): Buffer;
  /** The request with these pieces. */
  request(source: OtlpSource, pieces: Buffer): Buffer;
  /** The requests with the first and the second half of the records of a request; `undefined` if it has only one. */
  halves(request: Buffer): [Buffer, Buffer] | undefined;
}

const NANOSECONDS = 1_000_000n;

const nanoseconds = (ms: number) => BigInt(Math.floor(ms)) * NANOSECONDS;

/* Numbers of fields: https://github.com/open-telemetry/opentelemetry-proto, collector/logs, logs, common and resource, v1. */

export const PROTOBUF: OtlpFormat = {
  contentType: 'application/x-protobuf',
  piece: (record) => write((out) => out.message(2, () => writeRecord(out, record))),
  request: ({ resource, scope }, pieces) => {
    const head = write((out) =>
      out.message(1, () => {
        for (const attribute of resource) writeAttribute(out, 1, attribute);
      }),
    );
    const scoped = write((out) =>
      out.message(1, () => {
        out.text(1, scope.name);
        out.text(2, scope.version);
      }),
    );
    return joinRequest(head, scoped, [pieces]);
  },
  halves: (request) => {
    const [resourceLogs] = readFields(request);
    const [head, scopeLogs] = readFields(resourceLogs?.value as Buffer);
    const [scope, ...records] = readFields(scopeLogs?.value as Buffer).map(({ whole }) => whole);
    if (!head || !scope || records.length < 2) return undefined;
    const middle = records.length >> 1;
    const half = (from: number, to?: number) => joinRequest(head.whole, scope, records.slice(from, to));
    return [half(0, middle), half(middle)];
  },
};

function write(fill: (out: ProtoWriter) => void): Buffer {
  const writer = new ProtoWriter();
  fill(writer);
  return writer.written;
}

/** Records are copied once. */
function joinRequest(resource: Buffer, scope: Buffer, records: readonly Buffer[]): Buffer {
  const scopeLogs = withHead(2, [scope, ...records]);
  return Buffer.concat(withHead(1, [resource, ...scopeLogs]));
}

function withHead(field: number, parts: readonly Buffer[]): Buffer[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return [ProtoWriter.head(field, length), ...parts];
}

function writeRecord(out: ProtoWriter, record: OtlpRecord): void {
  const { timeMs, observedMs, severity, body, attributes, traceId, spanId, flags, eventName } = record;
  out.fixed64(1, nanoseconds(timeMs));
  if (severity) {
    out.int(2, severity.number);
    out.text(3, severity.text);
  }
  out.message(5, () => writeValue(out, body));
  for (const attribute of attributes) writeAttribute(out, 6, attribute);
  if (flags !== undefined) out.fixed32(8, flags);
  if (traceId !== undefined) out.bytes(9, Buffer.from(traceId, 'hex'));
  if (spanId !== undefined) out.bytes(10, Buffer.from(spanId, 'hex'));
  out.fixed64(11, nanoseconds(observedMs));
  if (eventName !== undefined) out.text(12, eventName);
}

function writeAttribute(out: ProtoWriter, field: number, [key, value]: Attribute): void {
  out.message(field, () => {
    out.text(1, key);
    out.message(2, () => writeValue(out, value));
  });
}

function writeValue(out: ProtoWriter, value: FieldJson): void {
  if (typeof value === 'string') out.text(1, value);
  else if (typeof value === 'boolean') out.bool(2, value);
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) out.int(3, value);
    else out.double(4, value);
  } else if (value !== null)
    out.message(5, () => {
      for (const each of value) out.message(1, () => writeValue(out, each));
    });
}

export const JSON_FORMAT: OtlpFormat = {
  contentType: 'application/json',
  piece: (record) => Buffer.from(`${JSON.stringify(recordJson(record))},`),
  request: ({ resource, scope }, pieces) => {
    const text = JSON.stringify({ resource: { attributes: resource.map(attributeJson) } });
    const head = `{"resourceLogs":[${text.slice(0, -1)},"scopeLogs":[{"scope":${JSON.stringify(scope)},"logRecords":[`;
    return Buffer.concat([Buffer.from(head), pieces.subarray(0, -1), Buffer.from(']}]}]}')]);
  },
  halves: (request) => {
    const { resourceLogs } = JSON.parse(request.toString()) as JsonRequest;
    const [{ resource, scopeLogs }] = resourceLogs;
    const [{ scope, logRecords }] = scopeLogs;
    if (logRecords.length < 2) return undefined;
    const middle = logRecords.length >> 1;
    const half = (from: number, to?: number) => {
      const part = [{ resource, scopeLogs: [{ scope, logRecords: logRecords.slice(from, to) }] }];
      return Buffer.from(JSON.stringify({ resourceLogs: part }));
    };
    return [half(0, middle), half(middle)];
  },
};

/** As it was written here. */
interface JsonRequest {
  resourceLogs: [{ resource: object; scopeLogs: [{ scope: object; logRecords: object[] }] }];
}

function recordJson({ timeMs, observedMs, severity, body, attributes, ...rest }: OtlpRecord): object {
  const { traceId, spanId, flags, eventName } = rest;
  return {
    timeUnixNano: String(nanoseconds(timeMs)),
    observedTimeUnixNano: String(nanoseconds(observedMs)),
    ...(severity && { severityNumber: severity.number, severityText: severity.text }),
    body: valueJson(body),
    attributes: attributes.map(attributeJson),
    ...(traceId !== undefined && { traceId }),
    ...(spanId !== undefined && { spanId }),
    ...(flags !== undefined && { flags }),
    ...(eventName !== undefined && { eventName }),
  };
}

const attributeJson = ([key, value]: Attribute) => ({ key: wellFormed(key), value: valueJson(value) });

function valueJson(value: FieldJson): object {
  if (typeof value === 'string') return { stringValue: wellFormed(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return value === null ? {} : { arrayValue: { values: value.map(valueJson) } };
}

/** Halves of characters are no text: strict decoders refuse a request that has one. */
function wellFormed(text: string): string {
  return /\p{Cs}/u.test(text) ? text.replace(/\p{Cs}/gu, '\ufffd') : text;
}

/** Reads the response to a request, in either encoding; `undefined` if it is none. */
export function readResponse(body: Buffer, contentType: string): OtlpResponse | undefined {
  try {
    return /\bjson\b/i.test(contentType) ? readJsonResponse(body) : readProtoResponse(body);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A success has `partial_success`, its count and message; a failure is a `google.rpc.Status`, whose message has that place. */
function readProtoResponse(body: Buffer): OtlpResponse {
  const outer = readFields(body);
  const partial = outer.find(({ field, value }) => field === 1 && Buffer.isBuffer(value))?.value;
  const fields = Buffer.isBuffer(partial) ? readFields(partial) : outer.filter(({ field }) => field === 2);
  const [count, text] = [1, 2].map((number) => fields.find(({ field }) => field === number)?.value);
  return { refused: typeof count === 'number' ? count : 0, detail: Buffer.isBuffer(text) ? text.toString() : '' };
}

function readJsonResponse(body: Buffer): OtlpResponse {
  const parsed: unknown = JSON.parse(body.toString());
  if (typeof parsed !== 'object' || parsed === null) throw new SyntaxError('it is not an object');
  const { partialSuccess, message } = parsed as { partialSuccess?: Record<string, unknown> | null; message?: unknown };
  const refused = Number(partialSuccess?.rejectedLogRecords ?? 0);
  const detail = partialSuccess?.errorMessage ?? message;
  return { refused: refused > 0 ? refused : 0, detail: typeof detail === 'string' ? detail : '' };
}
