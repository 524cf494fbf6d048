import { constants, type Http2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type MethodDefinition,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
  type ServerWritableStream,
  status,
} from '@grpc/grpc-js';
import {
  codeOf,
  ERROR_KINDS,
  type ErrorCode,
  errorMessage,
  isErrorCode,
  PortholeError,
  type Query,
  toProblem,
} from '@porthole/contract';
import { type Credentials, type CredentialsEnded, TooManyFailures } from '../auth/access.ts';
import { type AuthResult, clientKey, type Identity, plainAddress } from '../auth/identity.ts';
import { ClientDisconnected, isFault, ReaderStalled } from '../errors.ts';
import { Deadline } from '../transport/deadline.ts';
import type { LoggedRequest, RequestLog } from '../transport/request-log.ts';
import { type RequestPolicy, retryAfterSeconds } from '../transport/request-policy.ts';
import type { StreamUser } from '../transport/stream-slots.ts';
import type { StreamCall, UnaryCall } from './calls/calls.ts';
import { wellFormed } from './messages.ts';
import { findCallRoute, isHealthCall, isKnownCall, requiredRole, toQuery } from './service-definition.ts';

/** The status a call ends with, as far as known. */
interface SentStatus {
  code?: status | null | undefined;
  metadata?: Metadata | null | undefined;
}

const NO_QUERY: Query = { getAll: () => [] };

function stoppingError(): PortholeError {
  return new PortholeError('SHUTTING_DOWN', 'the node is stopping');
}

/** The address without the port, as over HTTP. */
function peerAddress(call: ServerInterceptingCallInterface): string {
  return call.getPeer().replace(/:\d+$/, '');
}

/** One call, from its arrival to its status. */
class CallLifecycle {
  /** The status we sent; some are sent by the library itself. */
  status: status | undefined;
  /** The request message. */
  request: object | undefined;
  response: ChunkCall | undefined;
  readonly #path: string;
  readonly #call: ServerInterceptingCallInterface;
  readonly #options: GateOptions;
  /** Without its package: `NodeStateService/SearchLogs`. */
  readonly #method: string;
  readonly #startedMs = performance.now();
  #identity: Identity | undefined;
  #credentials: Credentials | undefined;
  #unwatchSession: (() => void) | undefined;
  #via: string | undefined;
  #traceparent: string | undefined;
  #code: ErrorCode | undefined;
  #isSuspicious = false;
  #failure: string | undefined;
  /** The call as it may appear in the own log. */
  readonly logged: LoggedRequest;
  #hasEnded = false;

  constructor(path: string, call: ServerInterceptingCallInterface, options: GateOptions) {
    this.#path = path;
    this.#call = call;
    this.#options = options;
    this.#method = path.slice(path.lastIndexOf('.') + 1);
    this.logged = { id: options.log.newId(), method: 'gRPC', route: isKnownCall(path) ? this.#method : 'none' };
  }

  limitArrival(): NodeJS.Timeout {
    const { arrivalTimeoutMs } = this.#options;
    const late = new PortholeError('REQUEST_TIMEOUT', `the request did not arrive within ${arrivalTimeoutMs} ms`);
    return setTimeout(() => this.run(() => this.#refuse(late)), arrivalTimeoutMs);
  }

  /** Checks, in this order: rate, origin, credentials, role, stopping; calls `next` or refuses the call. */
  authorize(metadata: Metadata, next: () => void): void {
    const { access, checkLocal, checkRate, isStopping } = this.#options.policy;
    const stream = getHttp2Stream(this.#call);
    const socket = stream.session?.socket;
    const address = peerAddress(this.#call);
    const [authorization] = metadata.get('authorization');
    this.#via = metadata.get('porthole-via')[0]?.toString();
    this.#traceparent = metadata.get('traceparent').join();
    const credentials: Credentials = {
      authorization: authorization?.toString(),
      socket,
      address: plainAddress(address),
      describe: () => ({
        transport: 'grpc',
        method: 'POST',
        url: this.#path,
        headers: Object.fromEntries(Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)])),
        address: plainAddress(address),
        source: metadata,
      }),
    };
    this.#credentials = credentials;
    const decide = (verdict: AuthResult) => {
      if (this.#hasEnded) return; // the client has cancelled
      if ('identity' in verdict) this.#identity = verdict.identity;
      access.authorize(verdict, requiredRole(this.#path), {
        credentials,
        where: 'the metadata "authorization: Bearer TOKEN"',
      });
      if (isStopping()) throw stoppingError();
      next();
    };
    try {
      checkRate(address);
      if (this.#options.ambiguous.has(stream))
        throw new PortholeError('BAD_REQUEST', 'there is more than one "authorization" in the metadata');
      checkLocal?.({ address, socket, host: this.#call.getHost(), headers: metadata.getMap() });
      const found = access.authenticate(credentials);
      if (found instanceof Promise)
        found
          .then(decide)
          .catch((error) => this.#refuse(error))
          .catch((error) => this.fault(error));
      else decide(found);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** The client of an authorized call. */
  get user(): Omit<StreamUser, 'isEndless'> {
    const identity = this.#identity;
    const address = plainAddress(peerAddress(this.#call));
    return { client: clientKey({ identity, address }), isMember: identity?.isMember ?? false };
  }

  /** `end` is called when its credentials are no longer valid, until the call has ended. */
  watchSession(end: (reason: CredentialsEnded) => void): void {
    if (!this.#credentials || this.#hasEnded) return;
    const { access } = this.#options.policy;
    this.#unwatchSession = access.watchSession({
      credentials: this.#credentials,
      wanted: requiredRole(this.#path),
      end,
    });
  }

  recordStatus({ code, metadata }: SentStatus): void {
    this.status ??= code ?? status.UNKNOWN;
    const [sentCode] = metadata?.get('porthole-code') ?? [];
    if (isErrorCode(sentCode)) this.#code ??= sentCode;
  }

  /** Keeps a failure of the node for the access log. */
  failed(error: unknown): void {
    this.#failure = errorMessage(error);
    if (isFault(error)) this.#options.policy.metrics.countFault('grpc');
  }

  /** Runs a step of the call, from an event or a timer: what it throws ends the call, not the process. */
  run(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.fault(error);
    }
  }

  /** A mistake in this program: the call ends without a status, unless it has ended before. */
  fault(error: unknown): void {
    this.failed(error);
    this.#options.log.unfinished(this.logged, error);
    if (this.#hasEnded) return;
    this.status ??= status.INTERNAL;
    getHttp2Stream(this.#call).close(constants.NGHTTP2_INTERNAL_ERROR);
  }

  refuseOversized({ bytes }: OversizedRequest): void {
    this.status = status.RESOURCE_EXHAUSTED;
    const details = `the request has ${bytes} bytes, the limit set by grpc.max-request-bytes is ${this.#options.maxRequestBytes}`;
    this.#call.sendStatus({ code: this.status, details });
  }

  /**
   * Ends a call whose client does not read: a status would wait behind the unread messages. The library has no way to do
   * that.
   */
  reset(): void {
    this.status = status.RESOURCE_EXHAUSTED;
    getHttp2Stream(this.#call).close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  ended(): void {
    this.#hasEnded = true;
    this.#unwatchSession?.();
    const { policy, log } = this.#options;
    const code =
      // clock: the deadline of a call, as the library has it
      this.status ?? (Number(this.#call.getDeadline()) <= Date.now() ? status.DEADLINE_EXCEEDED : status.CANCELLED);
    const seconds = (performance.now() - this.#startedMs) / 1000;
    policy.metrics.countCall({ method: this.#method, status: status[code], seconds });
    policy.accessLog.note({
      identity: this.#identity,
      address: plainAddress(peerAddress(this.#call)),
      transport: 'grpc',
      route: findCallRoute(this.#path),
      operation: this.#method,
      query: this.request ? toQuery(this.request) : NO_QUERY,
      status: status[code],
      code: this.#code,
      isSuspicious: this.#isSuspicious,
      id: this.logged.id,
      failure: this.#failure,
      bytes: this.response?.sent.bytes,
      records: this.response?.sent.records,
      ms: seconds * 1000,
      via: this.#via,
      traceparent: this.#traceparent,
    });
    log.completed(this.logged, { status: status[code], bytes: this.response?.sent.bytes, ms: seconds * 1000 });
  }

  #refuse(error: unknown): void {
    if (this.status !== undefined) return; // already refused because it arrived too late
    const refusal = toCallStatus(error);
    if (isFault(error)) {
      this.failed(error);
      this.#options.log.failed(this.logged, error);
    }
    this.#isSuspicious = error instanceof TooManyFailures && error.isFirst;
    this.recordStatus(refusal);
    this.#call.sendStatus(refusal);
  }
}

/** Stands for a request that was not decoded because it is too large; the gate refuses it. */
class OversizedRequest {
  readonly bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }
}

/** Limits the size of a method's requests. The error of the library's own limit would not name the setting. */
export function boundingRequests<Method extends MethodDefinition<object, object>>(
  method: Method,
  maxBytes: number,
): Method {
  const { requestDeserialize } = method;
  return {
    ...method,
    requestDeserialize: (bytes: Buffer) =>
      bytes.length > maxBytes ? new OversizedRequest(bytes.length) : requestDeserialize(bytes),
  };
}

interface GateOptions {
  policy: Pick<RequestPolicy, 'access' | 'accessLog' | 'checkLocal' | 'checkRate' | 'isStopping' | 'metrics'>;
  /** Streams of calls with more than one `authorization`, of which the library shows the first. */
  ambiguous: WeakSet<object>;
  /** Time limit for receiving a request. */
  arrivalTimeoutMs: number;
  maxRequestBytes: number;
  log: RequestLog;
}

/**
 * Authorizes and accounts every call. Unlike over HTTP, neither sites nor rebound names are checked: web pages cannot speak
 * this protocol.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #watches = new Set<ServerInterceptingCallInterface>();
  readonly #lifecycles = new WeakMap<Metadata, CallLifecycle>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  readonly interceptor: ServerInterceptor = ({ path, requestStream }, call) => {
    const lifecycle = new CallLifecycle(path, call, this.#options);
    const isHealth = isHealthCall(path);
    const arrival = requestStream || isHealth ? undefined : lifecycle.limitArrival();
    if (isHealth) this.#watches.add(call);
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        this.#lifecycles.set(metadata, lifecycle);
        lifecycle.run(() => (isHealth ? next(metadata) : lifecycle.authorize(metadata, () => next(metadata))));
      })
      .withOnReceiveMessage((message, next) => {
        if (message instanceof OversizedRequest) return lifecycle.refuseOversized(message);
        lifecycle.request ??= message;
        lifecycle.run(() => next(message));
      })
      .withOnReceiveHalfClose((next) => {
        clearTimeout(arrival);
        lifecycle.run(next);
      })
      .withOnCancel(() => {
        clearTimeout(arrival);
        this.#watches.delete(call);
        lifecycle.run(() => lifecycle.ended());
      })
      .build();
    lifecycle.response = new ChunkCall(call, {
      start: (next) => next(listener),
      sendStatus: (sent, next) => {
        lifecycle.recordStatus(sent);
        next(sent);
      },
    });
    return lifecycle.response;
  };

  /** The call with this metadata, which was authorized. */
  lifecycleOf(metadata: Metadata): CallLifecycle {
    const lifecycle = this.#lifecycles.get(metadata);
    if (!lifecycle) throw new Error('a call without the metadata it was authorized with');
    return lifecycle;
  }

  /** Health watches never end by themselves. */
  endWatches(): void {
    for (const call of this.#watches) call.sendStatus({ ...toCallStatus(stoppingError()) });
  }
}

/** Field 2 of type bytes: `chunk` in all messages that have one. */
const CHUNK_TAG = 0x12;

/** The HTTP/2 stream of a call. It is private in the library; its version is pinned, and tests notice a change. */
function getHttp2Stream(call: object): Http2Stream & Duplex {
  return (call as { stream: Http2Stream & Duplex }).stream;
}

/**
 * Sends chunks of files without copying them: the library would copy each twice, into new memory, which costs more than
 * reading the file. All other messages are sent by the library.
 */
class ChunkCall extends ServerInterceptingCall {
  readonly #stream: Duplex;
  #chunkBytes = 0;
  #records = 0;

  constructor(...[call, responder]: ConstructorParameters<typeof ServerInterceptingCall>) {
    super(call, responder);
    this.#stream = getHttp2Stream(call);
  }

  /** Bytes of files and records sent so far. */
  get sent(): { bytes: number | undefined; records: number | undefined } {
    return { bytes: this.#chunkBytes || undefined, records: this.#records || undefined };
  }

  /** Calls back when the bytes of the chunk are flushed, and not at all when the stream is lost: the call ends then. */
  override sendMessage(
    message: { chunk?: Uint8Array; items?: readonly { record?: object }[] },
    callback: () => void,
  ): void {
    const { chunk, items = [] } = message;
    for (const { record } of items) if (record) this.#records++;
    if (!chunk?.length) super.sendMessage(message, callback);
    else if (!this.#stream.destroyed) this.#sendChunk(chunk, callback);
  }

  #sendChunk(chunk: Uint8Array, callback: () => void): void {
    this.#chunkBytes += chunk.length;
    this.#stream.cork();
    this.#stream.write(messageHead(chunk.length));
    this.#stream.write(chunk, (error) => {
      if (!error) callback();
    });
    this.#stream.uncork();
  }
}

/** Everything before the bytes of the chunk: the compression flag, the message length and the field tag. */
export function messageHead(chunkBytes: number): Buffer {
  const tag = [CHUNK_TAG];
  let rest = chunkBytes;
  for (; rest > 0x7f; rest >>>= 7) tag.push((rest & 0x7f) | 0x80);
  tag.push(rest);
  const head = Buffer.from([0, 0, 0, 0, 0, ...tag]);
  head.writeUInt32BE(tag.length + chunkBytes, 1);
  return head;
}

/** Details are percent-encoded in a header; many clients accept 8 KiB of headers, and a character may need nine bytes. */
const MAX_DETAIL_CHARACTERS = 700;

interface CallStatus {
  code: status;
  details: string;
  metadata: Metadata;
}

/** The one place where an error becomes a gRPC status, with the same code and message as over HTTP. */
function toCallStatus(thrown: unknown): CallStatus {
  const { code, detail, position } = toProblem(thrown);
  const metadata = new Metadata();
  metadata.set('porthole-code', code);
  if (position !== undefined) metadata.set('porthole-position', String(position));
  const retryAfter = retryAfterSeconds(thrown, code);
  if (retryAfter !== undefined) metadata.set('retry-after', String(retryAfter));
  const shown = detail.length > MAX_DETAIL_CHARACTERS ? `${detail.slice(0, MAX_DETAIL_CHARACTERS)}...` : detail;
  return { code: status[ERROR_KINDS[code].grpc], details: wellFormed(shown), metadata };
}

export interface ResponderDeps {
  policy: Pick<RequestPolicy, 'slots' | 'answerTimeoutMs' | 'stallTimeoutMs'>;
  log: RequestLog;
  /** Whether the call counts as a stream, and one that does not end by itself. */
  takesSlot: boolean;
  isEndless: boolean;
  lifecycleOf(metadata: Metadata): CallLifecycle;
}

/** Handles a unary call. */
export function respondUnary<Request, Response>(
  handle: UnaryCall<Request, Response>,
  deps: ResponderDeps,
): handleUnaryCall<Request, Response> {
  return (call, respond) => {
    const { slots, answerTimeoutMs } = deps.policy;
    const lifecycle = deps.lifecycleOf(call.metadata);
    const user = { ...lifecycle.user, isEndless: deps.isEndless };
    const deadline = new Deadline(answerTimeoutMs);
    call.once('cancelled', () => deadline.abort(new ClientDisconnected()));
    const run = async () => {
      let releaseSlot: (() => void) | undefined;
      try {
        if (deps.takesSlot) releaseSlot = slots.take(user);
        const options = { signal: deadline.signal, client: user.client };
        respond(null, await deadline.race(handle(call.request, options), () => {}));
      } catch (error) {
        explain(error, lifecycle, deps);
        respond(toCallStatus(error));
      } finally {
        deadline.met();
        releaseSlot?.();
      }
    };
    run().catch((error) => lifecycle.fault(error));
  };
}

/** Handles a server-streaming call. */
export function respondStream<Request, Response>(
  open: StreamCall<Request, Response>,
  deps: ResponderDeps,
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    const { slots, answerTimeoutMs, stallTimeoutMs } = deps.policy;
    const lifecycle = deps.lifecycleOf(call.metadata);
    const user = { ...lifecycle.user, isEndless: deps.isEndless };
    const deadline = new Deadline(answerTimeoutMs);
    call.once('cancelled', () => deadline.abort(new ClientDisconnected()));
    const run = async () => {
      let releaseSlot: (() => void) | undefined;
      try {
        releaseSlot = slots.take(user);
        if (deps.isEndless) lifecycle.watchSession((reason) => deadline.abort(reason));
        const items = open(call.request, { signal: deadline.signal, client: user.client });
        await send(call, items, { deadline, lifecycle, stallTimeoutMs });
        call.end();
      } catch (error) {
        explain(error, lifecycle, deps);
        if (error instanceof ReaderStalled) lifecycle.reset();
        else if (!call.cancelled) call.emit('error', toCallStatus(error));
      } finally {
        deadline.met();
        releaseSlot?.();
      }
    };
    run().catch((error) => lifecycle.fault(error));
  };
}

/**
 * Sends items as the client reads them: the next one is requested when the one before is flushed, because its buffer may be
 * reused. The first one is awaited before anything is sent, so that a refusal is a status without messages.
 */
async function send<Request, Response>(
  call: ServerWritableStream<Request, Response>,
  items: AsyncIterable<Response | undefined>,
  { deadline, lifecycle, stallTimeoutMs }: { deadline: Deadline; lifecycle: CallLifecycle; stallTimeoutMs: number },
): Promise<void> {
  const writer = new MessageWriter(call, stallTimeoutMs);
  const iterator = items[Symbol.asyncIterator]();
  const close = () => {
    iterator.return?.().catch((error) => {
      if (isFault(error)) lifecycle.failed(error); // the call has ended: there is no client left to report it to
    });
  };
  const next = () => deadline.race(iterator.next(), close);
  try {
    let item = await next();
    deadline.met();
    call.sendMetadata(new Metadata());
    for (; !item.done; item = await next()) if (item.value !== undefined) await writer.write(item.value);
  } finally {
    close();
  }
}

/** Logs failures of the node to the own log; errors of the client only at level debug. */
function explain(error: unknown, lifecycle: CallLifecycle, { log }: ResponderDeps): void {
  if (error instanceof ClientDisconnected) return;
  const code = codeOf(error);
  const isCut = error instanceof ReaderStalled;
  if (isCut || code === 'INTERNAL') lifecycle.failed(error);
  if (isCut) log.cut(lifecycle.logged, error);
  else if (code === 'INTERNAL') log.failed(lifecycle.logged, error);
  else log.refused(lifecycle.logged, code);
}

/** Writes one message at a time; fails if the client does not read it in time. */
class MessageWriter<Message> {
  readonly #call: ServerWritableStream<never, Message> | ServerWritableStream<unknown, Message>;
  readonly #stallTimeoutMs: number;
  #giveUp: (reason: Error) => void = () => {};

  constructor(call: ServerWritableStream<unknown, Message>, stallTimeoutMs: number) {
    this.#call = call;
    this.#stallTimeoutMs = stallTimeoutMs;
    call.once('cancelled', () => this.#giveUp(new ClientDisconnected()));
  }

  /** Resolves when the message is flushed: its buffer may then be reused. */
  write(message: Message): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#call.cancelled) return reject(new ClientDisconnected());
      const timer = setTimeout(() => reject(new ReaderStalled()), this.#stallTimeoutMs);
      this.#giveUp = (reason) => {
        clearTimeout(timer);
        reject(reason);
      };
      this.#call.write(message, (error: Error | null | undefined) => {
        clearTimeout(timer);
        if (error) reject(new ClientDisconnected());
        else resolve();
      });
    });
  }
}
