import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { errorMessage, readRetryAfter } from '@porthole/contract';
import { type Agent, createAgent, readStart, type SentRequest, sendRequest } from '../http/send-request.ts';
import type { Refusal, SentBatch, Sink } from '../ship/sink.ts';
import { SinkError } from '../sink-error.ts';
import { JSON_FORMAT, type OtlpFormat, type OtlpSource, PROTOBUF, readResponse } from './otlp-format.ts';
import { OtlpWriter } from './otlp-writer.ts';
import { parseHeaders } from './parse-headers.ts';

export interface OtlpOptions {
  /** Of the receiver; `/v1/logs` is added unless it ends with that. */
  url: string;
  encoding: 'protobuf' | 'json';
  compression: 'gzip' | 'none';
  /** More headers, `Name: value` on lines of their own. Read for each request: they may hold a token that is renewed. */
  headersFile?: string | undefined;
  /** PEM. Read again when a certificate is refused. */
  caFile?: string | undefined;
  certFile?: string | undefined;
  keyFile?: string | undefined;
  /** For a response to arrive as a whole. */
  timeoutMs: number;
  /** Of a batch, not compressed. */
  batchBytes: number;
  source: OtlpSource;
  /** Of the events of a node. */
  isEvents?: boolean | undefined;
  version: string;
}

const PATH = '/v1/logs';

/** Records of a batch: more of them in a request are unusual. */
const MAX_RECORDS = 8192;

/** What is read of a response, and how much of its text is shown. */
const MAX_RESPONSE_BYTES = 16 * 1024;
const MAX_DETAIL = 200;

/** The longest wait that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Those that are to be sent again: https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The request cannot be used, whoever sends it and when. */
const UNUSABLE: ReadonlySet<number> = new Set([400, 413, 422]);
const TOO_LARGE = 413;

/** So often a batch is sent that is not taken for another reason, before it is known to be the batch. */
const MAX_FAILURES = 5;

const GZIP = { level: 1 };

/** What became of a request that had a response. */
interface Outcome {
  status: number;
  isTaken: boolean;
  /** Records of it that were not. */
  refused: number;
  detail: string;
}

/** The batch that is being sent: what is left of it, and how often the receiver has not taken the first part of that. */
interface Current {
  packed: Buffer;
  parts: SentBatch[];
  refused: number;
  detail: string;
  failures: number;
}

/** Sends records to a receiver of OTLP over HTTP. All methods throw a `SinkError`. */
export class OtlpSink implements Sink {
  readonly name = 'otlp';
  readonly query = { fields: ['*'] };
  readonly limits: { bytes: number; records: number };
  readonly format: string;
  readonly #options: OtlpOptions;
  readonly #url: URL;
  readonly #format: OtlpFormat;
  #agent: Agent | undefined;
  #current: Current | undefined;

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.#url = new URL(options.url);
    const path = this.#url.pathname.replace(/\/+$/, '');
    this.#url.pathname = path.endsWith(PATH) ? path : `${path}${PATH}`;
    this.#format = options.encoding === 'json' ? JSON_FORMAT : PROTOBUF;
    this.limits = { bytes: options.batchBytes, records: MAX_RECORDS };
    this.format = `otlp.${options.encoding}.${options.compression}.1`;
  }

  createWriter(): OtlpWriter {
    return new OtlpWriter(this.#format, this.#options.isEvents ?? false);
  }

  /** A receiver needs no preparation: what is wrong with it shows when something is sent. */
  async prepare(): Promise<void> {}

  pack(written: Buffer): Promise<Buffer> {
    return this.#compress(this.#format.request(this.#options.source, written));
  }

  /** A receiver cannot be asked what it has: a node that has lost its positions sends everything again. */
  async knownFiles(): Promise<[]> {
    return [];
  }

  async send(batch: SentBatch, signal: AbortSignal): Promise<Refusal> {
    // Sent again because it failed in the middle: the parts that were taken are not.
    if (this.#current?.packed !== batch.packed)
      this.#current = { packed: batch.packed, parts: [batch], refused: 0, detail: '', failures: 0 };
    const current = this.#current;
    for (let [part] = current.parts; part; [part] = current.parts) {
      const rest = await this.#sendPart(part, current, signal);
      current.parts.splice(0, 1, ...(Array.isArray(rest) ? rest : []));
      if (Array.isArray(rest)) continue;
      current.refused += rest.records;
      current.detail ||= rest.detail;
      current.failures = 0;
    }
    this.#current = undefined;
    return { records: current.refused, detail: current.detail };
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  /** What was refused of it, or the parts that it has to be sent in. */
  async #sendPart(
    { packed, records }: SentBatch,
    current: Current,
    signal: AbortSignal,
  ): Promise<Refusal | SentBatch[]> {
    // Whether it takes nothing at all, because of its address or our credentials, shows in what it does with an empty request.
    const isDoubtful = current.failures >= MAX_FAILURES;
    if (isDoubtful) {
      const empty = await this.#post(await this.pack(Buffer.alloc(0)), signal);
      if (!empty.isTaken) throw notTaken(empty);
    }
    const outcome = await this.#post(packed, signal);
    const { status, isTaken, refused, detail } = outcome;
    if (isTaken) return { records: Math.min(refused, records), detail };
    if (status === TOO_LARGE) {
      const halves = await this.#halves(packed, records);
      if (halves) return halves;
    }
    if (isDoubtful || UNUSABLE.has(status)) return { records, detail: notTaken(outcome).message };
    current.failures++;
    throw notTaken(outcome);
  }

  async #halves(packed: Buffer, records: number): Promise<SentBatch[] | undefined> {
    const request = this.#options.compression === 'gzip' ? await promisify<Buffer, Buffer>(gunzip)(packed) : packed;
    const halves = this.#format.halves(request);
    if (!halves) return undefined;
    // The next batches are sent in one piece.
    this.limits.bytes = Math.max(1, Math.min(this.limits.bytes, request.length >> 1));
    const [first, second] = await Promise.all(halves.map((half) => this.#compress(half)));
    if (!first || !second) return undefined;
    return [
      { packed: first, records: records >> 1 },
      { packed: second, records: records - (records >> 1) },
    ];
  }

  async #compress(request: Buffer): Promise<Buffer> {
    return this.#options.compression === 'gzip' ? promisify<Buffer, typeof GZIP, Buffer>(gzip)(request, GZIP) : request;
  }

  /** Throws if nothing is known about what became of it, or if it is to be sent again. */
  async #post(body: Buffer, signal: AbortSignal): Promise<Outcome> {
    const { timeoutMs } = this.#options;
    const leaving = new AbortController();
    const leave = () => leaving.abort(signal.reason);
    const shownUrl = `${this.#url.protocol}//${this.#url.host}`;
    const late = () => leaving.abort(unreached('TIMEOUT', `no whole response from ${shownUrl} in ${timeoutMs} ms`));
    const timer = setTimeout(late, timeoutMs);
    signal.addEventListener('abort', leave, { once: true });
    try {
      signal.throwIfAborted();
      const sent = { url: this.#url, shownUrl, body, idleMs: timeoutMs, signal: leaving.signal, fail: unreached };
      const headers = await this.#headers();
      this.#agent ??= createAgent(this.#url, await this.#tls());
      const response = await sendRequest({ ...sent, agent: this.#agent, headers });
      const text = await readStart(response.body, MAX_RESPONSE_BYTES);
      return readOutcome(response.status, response.headers, text);
    } catch (error) {
      // Its certificate, or ours, may have been replaced.
      if (error instanceof SinkError && error.code === 'OTLP_DENIED') this.close();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  async #headers(): Promise<Record<string, string>> {
    const { headersFile, compression, version } = this.#options;
    return {
      ...(headersFile !== undefined && parseHeaders((await readNamed(headersFile)).toString(), headersFile)),
      'Content-Type': this.#format.contentType,
      'User-Agent': `porthole/${version}`,
      ...(compression === 'gzip' && { 'Content-Encoding': 'gzip' }),
    };
  }

  async #tls(): Promise<Parameters<typeof createAgent>[1]> {
    const { caFile, certFile, keyFile } = this.#options;
    if (this.#url.protocol !== 'https:') return {};
    return {
      ...(caFile !== undefined && { ca: await readNamed(caFile) }),
      ...(certFile !== undefined && { cert: await readNamed(certFile) }),
      ...(keyFile !== undefined && { key: await readNamed(keyFile) }),
    };
  }
}

function readOutcome(status: number, headers: NodeJS.Dict<string | string[]>, body: Buffer): Outcome {
  const contentType = String(headers['content-type'] ?? '');
  const isPage = body.length > 0 && /\bhtml\b/i.test(contentType);
  const response = isPage ? undefined : readResponse(body, contentType);
  const isTaken = status >= 200 && status < 300;
  const detail = shorten(response?.detail || (isTaken ? '' : isPage ? '' : printable(body)));
  if (RETRYABLE.has(status)) {
    // clock: dates that receivers send
    const retryAfterMs = readRetryAfter(headers['retry-after']?.toString(), Date.now());
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs: Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) };
    throw new SinkError('OTLP_BUSY', `status ${status}${detail === '' ? '' : `: ${detail}`}`, wait);
  }
  if (isTaken && isPage)
    throw new SinkError('OTLP_FAILED', `status ${status} with a page: this is no receiver of OTLP`);
  // A receiver that says so has taken it, whatever else it says: sent again, it would be there twice.
  const isOdd = isTaken && body.length > 0 && response === undefined;
  return {
    status,
    isTaken,
    refused: response?.refused ?? 0,
    detail: isOdd ? 'the response is not one of OTLP' : detail,
  };
}

const unreached: SentRequest['fail'] = (kind, message, cause) => new SinkError(`OTLP_${kind}`, message, { cause });

function notTaken({ status, detail }: Outcome): SinkError {
  const code = status === 401 || status === 403 ? 'OTLP_DENIED' : 'OTLP_FAILED';
  return new SinkError(code, `status ${status}${detail === '' ? '' : `: ${detail}`}`);
}

/** Of a protobuf message that was not understood, the text in it. */
function printable(body: Buffer): string {
  return body.toString('utf8', 0, 4 * MAX_DETAIL);
}

/** A receiver may say anything. */
function shorten(text: string): string {
  return text
    .replace(/[\p{C}\ufffd\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_DETAIL);
}

async function readNamed(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new SinkError('OTLP_DENIED', `cannot read ${path}: ${errorMessage(cause)}`, { cause });
  }
}
