import { encodeBodyParameters, type FetchResponse, POST_PATHS, type ResponseBudget } from '@porthole/contract';
import { unneeded } from '@porthole/logs/shared';
import { MAX_TIMER_MS, type StrictOptions } from './client-options.ts';
import {
  ClientError,
  type ConnectionFailure,
  classifyFailure,
  describeFailure,
  findPortholeError,
} from './errors/client-error.ts';
import { responseError } from './errors/response-error.ts';
import { remoteText } from './field-checks.ts';
import type { Clock } from './retry.ts';

/** Maximum bytes read of an error body. */
const MAX_PROBLEM_BYTES = 64 * 1024;

const EMPTY = new URLSearchParams();

/**
 * Total time to wait for the chunks of a response: this many times the stall timeout plus a millisecond per byte. Networks are
 * faster, and a node that trickles bytes cannot hold its reader forever.
 */
const PATIENCE = 10;
const MS_PER_BYTE = 1;

const TIMED_OUT = { failure: 'timeout' } as const;

/** How long the end of a body may take whose content has come. */
const FINISH_MS = 1000;

/** One request and its response, to the last byte. The caller reads it to its end or closes it. */
export class Exchange {
  readonly path: string;
  readonly method: string;
  readonly url: string;
  readonly options: StrictOptions;
  readonly #body: string | undefined;
  readonly #signal: AbortSignal | undefined;
  #stallMs: number;
  readonly #timeoutMs: number;
  readonly #abortController = new AbortController();
  readonly #onAbort = () => this.#abortController.abort(this.#signal?.reason);
  readonly #deadline: number;
  /** Remaining total wait time; each received byte adds to it. */
  #allowanceMs: number;
  readonly #timer = new PatientTimer();
  /** The timeout error, if it timed out. */
  #timedOut: ClientError | undefined;
  #response: FetchResponse | undefined;
  #reader: ReturnType<NonNullable<FetchResponse['body']>['getReader']> | undefined;
  /** The first bytes, if they were awaited. */
  #begun: { chunk: Uint8Array | undefined } | undefined;
  readonly #held: HeldBytes;
  /** The response was read completely. */
  #isWhole = false;

  private constructor(request: ClientRequest, { options, pathPrefix = '/api/v1' }: ClientDeps) {
    const { path: route, query = EMPTY, signal, scanMs = 0, isPaced = false } = request;
    const { method, body } = chooseBody(request);
    this.#body = body;
    const search = body === undefined ? query.toString() : '';
    const path = route.replace('/api/v1', pathPrefix);
    this.path = path;
    this.method = method;
    this.url = `${options.base}${path}${search && `?${search}`}`;
    this.options = options;
    this.#signal = signal;
    this.#held = new HeldBytes(request.responseBudget ?? options.responseBudget);
    const withScanTime = (ms: number) => Math.min(ms + (scanMs > 0 ? scanMs : 0), MAX_TIMER_MS);
    // What is only read, as the bytes of a file are, needs no longer to continue than to begin.
    this.#stallMs = withScanTime(isPaced ? Math.min(options.stallMs, options.timeoutMs) : options.stallMs);
    this.#timeoutMs = withScanTime(options.timeoutMs);
    this.#deadline = performance.now() + this.#timeoutMs;
    this.#allowanceMs = isPaced ? this.#stallMs * PATIENCE : Number.POSITIVE_INFINITY;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Resolves with the head of a successful response; throws otherwise. */
  static async open(request: ClientRequest, deps: ClientDeps): Promise<Exchange> {
    request.signal?.throwIfAborted();
    const exchange = new Exchange(request, deps);
    try {
      await exchange.#send(request, deps.clock);
      if (request.awaitsBody) exchange.#begun = { chunk: await exchange.#read(() => exchange.#startDeadline()) };
      return exchange;
    } catch (error) {
      exchange.close();
      throw error;
    }
  }

  get status(): number {
    return this.#response?.status ?? 0;
  }

  header(name: string): string | null {
    return this.#response?.headers.get(name) ?? null;
  }

  /** The content type without its parameters. */
  get contentType(): string {
    return (this.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  }

  /** The node sends something at least this often. */
  expectEvery(ms: number): void {
    this.#stallMs = Math.min(this.#stallMs, ms);
  }

  /** The next bytes of the body, `undefined` at its end. Fails if it stalls or is truncated. */
  async read(): Promise<Uint8Array | undefined> {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun) return begun.chunk;
    const startedMs = performance.now();
    const chunk = await this.#read(() => this.#startStallTimer());
    this.#allowanceMs += (chunk?.length ?? 0) * MS_PER_BYTE - (performance.now() - startedMs);
    return chunk;
  }

  /** The whole body, within the timeout. Beyond `maxBytes` it is cut or rejected. */
  async readWhole({ maxBytes, orCut = false }: { maxBytes: number; orCut?: boolean }): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    let left = maxBytes;
    for (;;) {
      const chunk = await this.#read(() => this.#startDeadline());
      if (!chunk) return text + decoder.decode();
      left -= chunk.length;
      if (left < 0 && !orCut) throw this.badResponse(`the response is longer than ${this.#limitName(maxBytes)}`);
      this.hold(chunk.length);
      text += decoder.decode(chunk, { stream: true });
      if (left < 0) return text;
    }
  }

  /** Adds to the bytes in memory. Fails if the shared budget is exceeded. */
  hold(bytes: number): void {
    const exceeded = this.#held.add(bytes);
    if (exceeded) throw this.badResponse(`the response of ${this.path} exceeds ${exceeded}: select fewer members`);
  }

  /** Sets the bytes still in memory. */
  holdOnly(bytes: number): void {
    this.#held.reduceTo(bytes);
  }

  badResponse(message: string, cause?: unknown): ClientError {
    return this.error('BAD_ANSWER', message, cause);
  }

  /** The error of a truncated response, or of none. */
  cut(message: string, cause?: unknown): ClientError {
    return this.error('UNREACHABLE', message, cause, classifyFailure(cause));
  }

  error(
    code: ClientError['code'],
    message: string,
    cause?: unknown,
    failure: { failure?: ConnectionFailure; systemCode?: string } = {},
  ): ClientError {
    const { method, url } = this;
    return new ClientError(code, message, { method, url, status: this.#response?.status, cause, ...failure });
  }

  /** Releases the connection, or aborts it if the response has not ended. Idempotent. */
  close(): void {
    this.#timer.stop();
    this.holdOnly(0);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (this.#isWhole) return;
    this.#abortController.abort();
    // Rejects with the error that ended the stream: the abort, or a failure that a read has already thrown.
    void unneeded(this.#reader?.cancel());
  }

  /**
   * Like `close`, where all that is missing is the end of the body: it is read, so that the connection can be used again. Aborts
   * it if something else comes, or nothing.
   */
  finish(): void {
    const reader = this.#reader;
    if (this.#isWhole || this.#abortController.signal.aborted || !reader) {
      this.close();
      return;
    }
    this.holdOnly(0);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#endAfter(FINISH_MS, () => this.cut('the response does not end'));
    reader.read().then(
      ({ done }) => {
        this.#isWhole = done;
        this.close();
      },
      () => this.close(),
    );
  }

  async #send(request: ClientRequest, clock: Clock): Promise<void> {
    const { options } = this;
    this.#startDeadline();
    const token = await this.#untilAborted(options.token());
    const { [LAST_EVENT_ID]: lastEventId, ...others } = request.headers ?? {};
    const init = {
      method: this.method,
      ...(this.#body !== undefined && { body: this.#body }),
      headers: {
        ...options.headers,
        ...others,
        ...(this.#body !== undefined && { 'content-type': 'application/json' }),
        ...(this.#body === undefined && lastEventId !== undefined && { [LAST_EVENT_ID]: lastEventId }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      signal: this.#abortController.signal,
      // Not followed: a redirect would send the token and headers to an unknown address.
      redirect: 'manual',
      cache: 'no-store',
    } as const;
    const response = await this.#guarded(() => options.fetch(this.url, init));
    this.#response = response;
    this.#reader = response.body?.getReader();
    this.#timer.stop();
    const { status, headers, type } = response;
    if (type === 'opaqueredirect' || (status >= 300 && status < 400))
      throw this.badResponse(
        `the node redirects to ${this.#shown(headers.get('location'), 'another address')}: give that address`,
      );
    if (response.ok) return;
    const body = await this.readWhole({ maxBytes: MAX_PROBLEM_BYTES, orCut: true }).catch((error: unknown) => {
      this.#signal?.throwIfAborted();
      if (this.#timedOut) throw error;
      return ''; // the status is enough
    });
    const { method, url, path } = this;
    const facts = { method, url, path, status, headers };
    throw responseError(facts, { body, nowMs: clock.now(), hidesTexts: options.hidesTexts });
  }

  async #read(limit: () => void): Promise<Uint8Array | undefined> {
    if (!this.#reader) return undefined;
    const reader = this.#reader;
    limit();
    const { done, value } = await this.#guarded(() => reader.read());
    this.#timer.stop();
    if (!done) return value;
    this.#isWhole = true;
    this.close();
    return undefined;
  }

  /** Aborts when the timeout expires. */
  #startDeadline(): void {
    const message = `${this.options.base} did not respond within ${this.#timeoutMs} ms`;
    this.#endAfter(this.#deadline - performance.now(), () =>
      this.error('DEADLINE_EXCEEDED', message, undefined, TIMED_OUT),
    );
  }

  /** Aborts when the response stalls. */
  #startStallTimer(): void {
    const { base } = this.options;
    const isLate = this.#allowanceMs < this.#stallMs;
    const message = isLate ? `${base} sends too slowly` : `${base} sent no byte for ${this.#stallMs} ms`;
    this.#endAfter(Math.max(0, Math.min(this.#stallMs, this.#allowanceMs)), () =>
      this.error('UNREACHABLE', message, undefined, TIMED_OUT),
    );
  }

  #endAfter(ms: number, why: () => ClientError): void {
    this.#timer.start(ms, () => {
      this.#timedOut = why();
      this.#abortController.abort(this.#timedOut);
    });
  }

  #limitName(maxBytes: number): string {
    return maxBytes === this.options.maxItemBytes ? `maxItemBytes (${maxBytes})` : `${maxBytes} bytes`;
  }

  /** Text of the node, if it may be shown. */
  #shown(text: string | null, otherwise: string): string {
    return text === null || this.options.hidesTexts ? otherwise : remoteText(text);
  }

  /** Distinguishes the caller, a timeout and the peer as the cause. */
  /** A function of the caller, which may never settle. */
  async #untilAborted<T>(result: Promise<T>): Promise<T> {
    const { signal } = this.#abortController;
    let onAbort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(this.#timedOut ?? signal.reason);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
    });
    try {
      return await Promise.race([result, aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #guarded<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      this.#timer.stop();
      this.#signal?.throwIfAborted();
      if (this.#timedOut) throw this.#timedOut;
      if (this.#abortController.signal.aborted) throw error; // closed by the caller
      const own = findPortholeError(error);
      if (own) throw own;
      const what = this.#response ? 'the connection was lost' : 'no connection';
      throw this.cut(`${what} (${this.options.base}): ${describeFailure(error, this.options)}`, error);
    }
  }
}

/** Bytes of each response not counted by the budget: short responses work even if it is exhausted. */
const UNCOUNTED_BYTES = 256 * 1024;

/** The bytes of one response in memory, as far as the budget that all responses share counts them. */
class HeldBytes {
  readonly #budget: ResponseBudget | undefined;
  #bytes = 0;
  #countedBytes = 0;

  constructor(budget: ResponseBudget | undefined) {
    this.#budget = budget;
  }

  /** Returns what is exceeded, for the error; `undefined` if there is room. */
  add(bytes: number): string | undefined {
    this.#bytes += bytes;
    const more = Math.max(0, this.#bytes - UNCOUNTED_BYTES) - this.#countedBytes;
    if (!this.#budget || more <= 0) return undefined;
    if (!this.#budget.hold(more)) return `the ${this.#budget.maxBytes} bytes that all responses together may hold`;
    this.#countedBytes += more;
    return undefined;
  }

  reduceTo(bytes: number): void {
    this.#bytes = bytes;
    const counted = Math.min(this.#countedBytes, Math.max(0, bytes - UNCOUNTED_BYTES));
    this.#budget?.release(this.#countedBytes - counted);
    this.#countedBytes = counted;
  }
}

/** A timer that is later than this says that this program did not get to reading. */
const LATE_MS = 100;

/** The time for something to come. If this program was busy itself, what has come meanwhile is read first. */
class PatientTimer {
  #timer: ReturnType<typeof setTimeout> | undefined;

  start(ms: number, end: () => void): void {
    this.stop();
    const dueMs = performance.now() + ms;
    this.#timer = setTimeout(() => {
      if (performance.now() > dueMs + LATE_MS) this.#timer = setTimeout(end, LATE_MS);
      else end();
    }, ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** The variable part of a request. */
export interface ClientRequest {
  /** Path of the route below the base address. */
  path: string;
  /** A GET with parameters too long for a URL is sent as a POST, if the route accepts it. */
  method?: 'GET' | 'HEAD' | 'DELETE' | 'PUT';
  query?: URLSearchParams;
  /** JSON, sent by POST, or by PUT. */
  body?: string;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** Overrides the one of the client. */
  responseBudget?: ResponseBudget | undefined;
  /** Added to the timeouts: how long the node may scan before it responds. */
  scanMs?: number;
  /** Maximum size of a whole response; default: that of an item. */
  maxBytes?: number;
  /** Whether a stream must keep a minimum pace; not for a follow, or a search without a budget. */
  isPaced?: boolean;
  /** Whether to wait for the first bytes of the body, too, within the timeout: the head alone is no response. */
  awaitsBody?: boolean;
}

/** What every request needs. */
export interface ClientDeps {
  options: StrictOptions;
  clock: Clock;
  /** Replaces `/api/v1`: the path below which a node forwards requests to one member. */
  pathPrefix?: string;
}

/** Below the default limits of a node for URLs and headers. */
const MAX_URL_CHARACTERS = 6 * 1024;

const LAST_EVENT_ID = 'last-event-id';

/** Sends parameters and event id in a body if they are too long for a URL and a header. */
function chooseBody(request: ClientRequest): { method: string; body?: string } {
  if (request.body !== undefined) return { method: request.method ?? 'POST', body: request.body };
  const { path, method = 'GET', query = new URLSearchParams(), headers } = request;
  const id = headers?.[LAST_EVENT_ID];
  const length = query.toString().length + (id?.length ?? 0);
  if (method !== 'GET' || length <= MAX_URL_CHARACTERS || !POST_PATHS.has(path)) return { method };
  const all = new URLSearchParams(query);
  if (id !== undefined) all.set('Last-Event-ID', id);
  return { method: 'POST', body: encodeBodyParameters(all) };
}
