import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { codeOf } from '@porthole/contract';
import type { CredentialsEnded } from '../auth/session-revalidation.ts';
import { ClientDisconnected, ReaderStalled } from '../transport/client-disconnected.ts';
import { Deadline } from '../transport/deadline.ts';
import type { LoggedRequest, RequestLog } from '../transport/request-log.ts';
import type { RequestPolicy } from '../transport/request-policy.ts';
import type { StreamUser } from '../transport/stream-slots.ts';
import type { StreamCall, UnaryCall } from './calls/calls.ts';
import { toCallStatus } from './errors.ts';
import { MessageWriter } from './message-writer.ts';

export interface ResponderDeps {
  rules: Pick<RequestPolicy, 'slots' | 'answerTimeoutMs' | 'stallTimeoutMs'>;
  log: RequestLog;
  /** Whether it counts as a stream. */
  takesSlot: boolean;
  /** Whom the call is of. */
  streamUser(metadata: Metadata): StreamUser;
  /** Calls back when the credentials of a call that does not end by itself count no longer. Others have none. */
  watchSession?: ((metadata: Metadata, end: (reason: CredentialsEnded) => void) => void) | undefined;
  /** What the own log may say of a call. */
  loggedRequest(metadata: Metadata): LoggedRequest;
  /** What the node could not do, for the access log. */
  failed(metadata: Metadata, error: unknown): void;
  /** Ends a call at once that can be told nothing any more. */
  reset(metadata: Metadata): void;
}

/** The life of a call with one answer. */
export function respondUnary<Request, Response>(
  handle: UnaryCall<Request, Response>,
  deps: ResponderDeps,
): handleUnaryCall<Request, Response> {
  return (call, respond) => {
    const { slots, answerTimeoutMs } = deps.rules;
    const deadline = new Deadline(answerTimeoutMs);
    call.once('cancelled', () => deadline.abort(new ClientDisconnected()));
    const run = async () => {
      let releaseSlot: (() => void) | undefined;
      try {
        if (deps.takesSlot) releaseSlot = slots.take(deps.streamUser(call.metadata));
        respond(null, await deadline.race(handle(call.request, deadline), () => {}));
      } catch (error) {
        explain(error, call.metadata, deps);
        respond(toCallStatus(error));
      } finally {
        deadline.met();
        releaseSlot?.();
      }
    };
    run().catch((error) => deps.log.unfinished(error));
  };
}

/** The life of a call whose answer is a stream. */
export function respondStream<Request, Response>(
  open: StreamCall<Request, Response>,
  deps: ResponderDeps,
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    const { slots, answerTimeoutMs } = deps.rules;
    const deadline = new Deadline(answerTimeoutMs);
    call.once('cancelled', () => deadline.abort(new ClientDisconnected()));
    const run = async () => {
      let releaseSlot: (() => void) | undefined;
      try {
        releaseSlot = slots.take(deps.streamUser(call.metadata));
        deps.watchSession?.(call.metadata, (reason) => deadline.abort(reason));
        await send(call, open(call.request, deadline), { deadline, answering: deps });
        call.end();
      } catch (error) {
        endEarly(call, error, deps);
      } finally {
        deadline.met();
        releaseSlot?.();
      }
    };
    run().catch((error) => deps.log.unfinished(error));
  };
}

/**
 * Sends items as the reader takes them: the next one is asked for when the one before is with the system, because its
 * bytes may be lent. The first one is there before anything is sent, so that a refusal is a status without an answer.
 */
async function send<Request, Response>(
  call: ServerWritableStream<Request, Response>,
  items: AsyncIterable<Response | undefined>,
  { deadline, answering: deps }: { deadline: Deadline; answering: ResponderDeps },
): Promise<void> {
  const writer = new MessageWriter(call, deps.rules.stallTimeoutMs);
  const iterator = items[Symbol.asyncIterator]();
  const close = () => {
    iterator.return?.().catch(() => {}); // nothing is left that could be told to anyone
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

/** Tells the own log of failures that are the node's, not the client's. */
function explain(error: unknown, metadata: Metadata, { log, loggedRequest, failed }: ResponderDeps): void {
  if (error instanceof ClientDisconnected) return;
  const code = codeOf(error);
  const isCut = error instanceof ReaderStalled;
  if (isCut || code === 'INTERNAL') failed(metadata, error);
  if (isCut) log.cut(loggedRequest(metadata), error);
  else if (code === 'INTERNAL') log.failed(loggedRequest(metadata), error);
  else log.refused(loggedRequest(metadata), code);
}
