import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { codeOf } from '@porthole/contract';
import { ClientDisconnected, isFault, ReaderStalled } from '../errors.ts';
import { Deadline } from '../transport/deadline.ts';
import type { RequestLog } from '../transport/request-log.ts';
import type { RequestPolicy } from '../transport/request-policy.ts';
import { type CallLifecycle, toCallStatus } from './call-lifecycle.ts';
import type { StreamCall, UnaryCall } from './calls/log-calls.ts';

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
