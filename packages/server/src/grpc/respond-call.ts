import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { codeOf } from '@porthole/contract';
import type { CredentialsEnded } from '../auth/access.ts';
import { ClientDisconnected, isFault, ReaderStalled } from '../errors.ts';
import { Deadline } from '../transport/deadline.ts';
import type { LoggedRequest, RequestLog } from '../transport/request-log.ts';
import type { RequestPolicy } from '../transport/request-policy.ts';
import type { StreamUser } from '../transport/stream-slots.ts';
import { toCallStatus } from './call-lifecycle.ts';
import type { StreamCall, UnaryCall } from './calls/log-calls.ts';

export interface ResponderDeps {
  policy: Pick<RequestPolicy, 'slots' | 'answerTimeoutMs' | 'stallTimeoutMs'>;
  log: RequestLog;
  /** Whether the call counts as a stream. */
  takesSlot: boolean;
  /** The client of the call. */
  streamUser(metadata: Metadata): StreamUser;
  /** Only for calls that do not end by themselves: calls back when their credentials are no longer valid. */
  watchSession?: ((metadata: Metadata, end: (reason: CredentialsEnded) => void) => void) | undefined;
  /** The call as it may appear in the own log. */
  loggedRequest(metadata: Metadata): LoggedRequest;
  /** Reports a failure of the node to the access log. */
  failed(metadata: Metadata, error: unknown): void;
  /** Reports a mistake in this program, and ends the call. */
  fault(metadata: Metadata, error: unknown): void;
  /** Ends a call at once, without a status. */
  reset(metadata: Metadata): void;
}

/** Handles a unary call. */
export function respondUnary<Request, Response>(
  handle: UnaryCall<Request, Response>,
  deps: ResponderDeps,
): handleUnaryCall<Request, Response> {
  return (call, respond) => {
    const { slots, answerTimeoutMs } = deps.policy;
    const deadline = new Deadline(answerTimeoutMs);
    call.once('cancelled', () => deadline.abort(new ClientDisconnected()));
    const run = async () => {
      let releaseSlot: (() => void) | undefined;
      try {
        const user = deps.streamUser(call.metadata);
        if (deps.takesSlot) releaseSlot = slots.take(user);
        const options = { signal: deadline.signal, client: user.client };
        respond(null, await deadline.race(handle(call.request, options), () => {}));
      } catch (error) {
        explain(error, call.metadata, deps);
        respond(toCallStatus(error));
      } finally {
        deadline.met();
        releaseSlot?.();
      }
    };
    run().catch((error) => deps.fault(call.metadata, error));
  };
}

/** Handles a server-streaming call. */
export function respondStream<Request, Response>(
  open: StreamCall<Request, Response>,
  deps: ResponderDeps,
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    const { slots, answerTimeoutMs } = deps.policy;
    const deadline = new Deadline(answerTimeoutMs);
    call.once('cancelled', () => deadline.abort(new ClientDisconnected()));
    const run = async () => {
      let releaseSlot: (() => void) | undefined;
      try {
        const user = deps.streamUser(call.metadata);
        releaseSlot = slots.take(user);
        deps.watchSession?.(call.metadata, (reason) => deadline.abort(reason));
        const items = open(call.request, { signal: deadline.signal, client: user.client });
        await send(call, items, { deadline, answering: deps });
        call.end();
      } catch (error) {
        endEarly(call, error, deps);
      } finally {
        deadline.met();
        releaseSlot?.();
      }
    };
    run().catch((error) => deps.fault(call.metadata, error));
  };
}

/**
 * Sends items as the client reads them: the next one is requested when the one before is flushed, because its buffer may be
 * reused. The first one is awaited before anything is sent, so that a refusal is a status without messages.
 */
async function send<Request, Response>(
  call: ServerWritableStream<Request, Response>,
  items: AsyncIterable<Response | undefined>,
  { deadline, answering: deps }: { deadline: Deadline; answering: ResponderDeps },
): Promise<void> {
  const writer = new MessageWriter(call, deps.policy.stallTimeoutMs);
  const iterator = items[Symbol.asyncIterator]();
  const close = () => {
    iterator.return?.().catch((error) => {
      if (isFault(error)) deps.failed(call.metadata, error); // the call has ended: there is no client left to report it to
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

function endEarly<Request, Response>(
  call: ServerWritableStream<Request, Response>,
  error: unknown,
  deps: ResponderDeps,
): void {
  explain(error, call.metadata, deps);
  if (error instanceof ReaderStalled) deps.reset(call.metadata);
  else if (!call.cancelled) call.emit('error', toCallStatus(error));
}

/** Logs failures of the node to the own log; errors of the client only at level debug. */
function explain(error: unknown, metadata: Metadata, { log, loggedRequest, failed }: ResponderDeps): void {
  if (error instanceof ClientDisconnected) return;
  const code = codeOf(error);
  const isCut = error instanceof ReaderStalled;
  if (isCut || code === 'INTERNAL') failed(metadata, error);
  if (isCut) log.cut(loggedRequest(metadata), error);
  else if (code === 'INTERNAL') log.failed(loggedRequest(metadata), error);
  else log.refused(loggedRequest(metadata), code);
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
