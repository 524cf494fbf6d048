import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A message of the official definitions, which this package was generated from. */
interface Message {
  decode(bytes: Uint8Array): object;
  encode(message: object): { finish(): Uint8Array };
  verify(message: object): string | null;
  toObject(message: object, options: object): object;
  fromObject(object: object): object;
}

const root = createRequire(import.meta.url)('@opentelemetry/otlp-transformer/build/src/generated/root.js') as {
  opentelemetry: { proto: { collector: { logs: { v1: Record<string, Message> } } } };
};
const { ExportLogsServiceRequest, ExportLogsServiceResponse } = root.opentelemetry.proto.collector.logs.v1 as {
  ExportLogsServiceRequest: Message;
  ExportLogsServiceResponse: Message;
};

export interface AnyValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: string;
  doubleValue?: number;
  arrayValue?: { values?: AnyValue[] };
}

export interface ReceivedRecord {
  timeUnixNano?: string;
  observedTimeUnixNano?: string;
  severityNumber?: number;
  severityText?: string;
  body?: AnyValue;
  attributes: Record<string, unknown>;
  traceId?: string;
  spanId?: string;
  flags?: number;
  eventName?: string;
}

export interface ReceivedRequest {
  headers: IncomingHttpHeaders;
  url: string;
  /** As it was sent, but not compressed. */
  bytes: Buffer;
  resource: Record<string, unknown>;
  scope: { name?: string; version?: string };
  records: ReceivedRecord[];
}

interface RawRecord extends Omit<ReceivedRecord, 'attributes'> {
  attributes?: { key: string; value: AnyValue }[];
}

interface RawRequest {
  resourceLogs?: {
    resource?: { attributes?: { key: string; value: AnyValue }[] };
    scopeLogs?: { scope?: { name?: string; version?: string }; logRecords?: RawRecord[] }[];
  }[];
}

/** What is done with a request, instead of taking it. `undefined`: it is taken. */
export type Behaviour = (request: ReceivedRequest, response: ServerResponse) => undefined | 'handled';

/** A receiver of OTLP over HTTP that decodes what it is sent by the official definitions. */
export class OtlpReceiver {
  readonly taken: ReceivedRequest[] = [];
  readonly requests: ReceivedRequest[] = [];
  /** Requests that the definitions do not allow: there must be none. */
  readonly invalid: string[] = [];
  behaviour: Behaviour = () => undefined;
  readonly #server: Server;
  #port = 0;

  constructor(tls?: ServerOptions) {
    const handle = (request: IncomingMessage, response: ServerResponse) => void this.#handle(request, response);
    this.#server = tls ? createTlsServer(tls, handle) : createServer(handle);
  }

  static async start(tls?: ServerOptions): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver(tls);
    await receiver.listen();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  /** What it has, in the order in which it came. */
  get records(): ReceivedRecord[] {
    return this.taken.flatMap(({ records }) => records);
  }

  get bodies(): string[] {
    return this.records.map(({ body }) => body?.stringValue ?? '');
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      return; // the client was killed in the middle of a request
    }
    const body = Buffer.concat(chunks);
    const { headers, url = '' } = request;
    const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    const isJson = headers['content-type'] === 'application/json';
    try {
      const received = { headers, url, bytes, ...decodeRequest(bytes, isJson) };
      this.requests.push(received);
      if (this.behaviour(received, response) === 'handled') return;
      this.taken.push(received);
      respond(response, isJson, {});
    } catch (error) {
      this.invalid.push(String(error));
      response.writeHead(400).end();
    }
  }
}

/** A success, which may say how many records are refused. */
export function respond(
  response: ServerResponse,
  isJson: boolean,
  message: { partialSuccess?: { rejectedLogRecords?: number; errorMessage?: string } },
): void {
  const encoded = ExportLogsServiceResponse.encode(ExportLogsServiceResponse.fromObject(message)).finish();
  response.writeHead(200, { 'content-type': isJson ? 'application/json' : 'application/x-protobuf' });
  response.end(isJson ? JSON.stringify(message) : encoded);
}

/** Throws unless the definitions allow every byte. */
export function decodeRequest(bytes: Buffer, isJson: boolean): ReturnType<typeof simplify> {
  return simplify(isJson ? decodeJson(bytes) : decodeProto(bytes));
}

const HEX = { traceId: 32, spanId: 16 } as const;

function decodeProto(bytes: Buffer): RawRequest {
  const message = ExportLogsServiceRequest.decode(bytes);
  const problem = ExportLogsServiceRequest.verify(message);
  if (problem !== null) throw new Error(problem);
  // Encoded anew it must be the same: nothing unknown, nothing in an odd form.
  if (!bytes.equals(ExportLogsServiceRequest.encode(message).finish())) throw new Error('it is encoded in another way');
  const raw = ExportLogsServiceRequest.toObject(message, { longs: String, enums: Number, bytes: Buffer }) as RawRequest;
  for (const record of recordsOf(raw)) {
    for (const key of ['traceId', 'spanId'] as const) {
      const id = record[key] as Buffer | undefined;
      if (id !== undefined) record[key] = Buffer.from(id).toString('hex');
    }
  }
  return raw;
}

/** JSON has ids in hexadecimal, and whole numbers as texts; all names are those of the definitions. */
function decodeJson(bytes: Buffer): RawRequest {
  const raw = JSON.parse(bytes.toString()) as RawRequest;
  if (!Buffer.from(bytes.toString()).equals(bytes) || /\\ud[89a-f]/i.test(bytes.toString()))
    throw new Error('it is not well-formed');
  const base64 = structuredClone(raw);
  for (const record of recordsOf(base64)) {
    for (const key of ['traceId', 'spanId'] as const) {
      const id = record[key];
      if (id === undefined) continue;
      if (id.length !== HEX[key]) throw new Error(`${key} has ${id.length} digits`);
      record[key] = Buffer.from(id, 'hex').toString('base64');
    }
  }
  const message = ExportLogsServiceRequest.fromObject(base64);
  const back = ExportLogsServiceRequest.toObject(message, { longs: String, enums: Number, bytes: String });
  if (JSON.stringify(sorted(back)) !== JSON.stringify(sorted(base64))) throw new Error('it has unknown fields');
  return raw;
}

function recordsOf({ resourceLogs = [] }: RawRequest): RawRecord[] {
  return resourceLogs.flatMap(({ scopeLogs = [] }) => scopeLogs.flatMap(({ logRecords = [] }) => logRecords));
}

function simplify(raw: RawRequest): Pick<ReceivedRequest, 'resource' | 'scope' | 'records'> {
  const [first] = raw.resourceLogs ?? [];
  const records = recordsOf(raw).map(({ attributes = [], ...record }) => ({
    ...record,
    attributes: toObject(attributes),
  }));
  return { resource: toObject(first?.resource?.attributes ?? []), scope: first?.scopeLogs?.[0]?.scope ?? {}, records };
}

function toObject(attributes: readonly { key: string; value: AnyValue }[]): Record<string, unknown> {
  const keys = attributes.map(({ key }) => key);
  if (new Set(keys).size < keys.length || keys.includes('')) throw new Error(`keys are not unique: ${keys.join()}`);
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

/** Whole numbers as `bigint`, which others are not. */
function plain(value: AnyValue): unknown {
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.intValue !== undefined) return BigInt(value.intValue);
  if (value.doubleValue !== undefined) return value.doubleValue;
  return value.arrayValue ? (value.arrayValue.values ?? []).map(plain) : null;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
