import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { codeOf } from '@porthole/contract';
import type { CredentialsEnded } from '../auth/standing-visits.ts';
import { ClientGone, ReaderStalled } from '../doors/client-gone.ts';
import { Deadline } from '../doors/deadline.ts';
import type { DoorRules } from '../doors/door-rules.ts';
import type { LoggedRequest, RequestLog } from '../doors/request-log.ts';
import type { StreamUser } from '../doors/stream-slots.ts';
import type { StreamCall, UnaryCall } from './calls/calls.ts';
import { statusOf } from './errors.ts';
import { MessageWriter } from './message-writer.ts';

export interface Answering {
  rules: Pick<DoorRules, 'slots' | 'answerTimeoutMs' | 'stallTimeoutMs'>;
  log: RequestLog;
  /** Whether it counts as a stream. */
  takesSlot: boolean;
  /** Whom the call is of. */
  userOf(metadata: Metadata): StreamUser;
  /** Calls back when the credentials of a call that does not end by itself count no longer. Others have none. */
  stay?: ((metadata: Metadata, end: (reason: CredentialsEnded) => void) => void) | undefined;
  /** What the own log may say of a call. */
  loggedOf(metadata: Metadata): LoggedRequest;
  /** What the node could not do, for the access log. */
  failed(metadata: Metadata, error: unknown): void;
  /** Ends a call at once that can be told nothing any more. */
  reset(metadata: Metadata): void;
}

/** The life of a call with one answer. */
export function answerOnce<Request, Response>(
  answer: UnaryCall<Request, Response>,
  answering: Answering,
): handleUnaryCall<Request, Response> {
  return (call, respond) => {
    const { slots, answerTimeoutMs } = answering.rules;
    const deadline = new Deadline(answerTimeoutMs);
    call.once('cancelled', () => deadline.abort(new ClientGone()));
    const run = async () => {
      let giveSlot: (() => void) | undefined;
      try {
        if (answering.takesSlot) giveSlot = slots.take(answering.userOf(call.metadata));
        respond(null, await deadline.race(answer(call.request, deadline), () => {}));
      } catch (error) {
        explain(error, call.metadata, answering);
        respond(statusOf(error));
      } finally {
        deadline.met();
        giveSlot?.();
      }
    };
    run().catch((error) => answering.log.unfinished(error));
  };
}

/** The life of a call whose answer is a stream. */
export function answerInPieces<Request, Response>(
  open: StreamCall<Request, Response>,
  answering: Answering,
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    const { slots, answerTimeoutMs } = answering.rules;
    const deadline = new Deadline(answerTimeoutMs);
    call.once('cancelled', () => deadline.abort(new ClientGone()));
    const run = async () => {
      let giveSlot: (() => void) | undefined;
      try {
        giveSlot = slots.take(answering.userOf(call.metadata));
        answering.stay?.(call.metadata, (reason) => deadline.abort(reason));
        await send(call, open(call.request, deadline), { deadline, answering });
        call.end();
      } catch (error) {
        endEarly(call, error, answering);
      } finally {
        deadline.met();
        giveSlot?.();
      }
    };
    run().catch((error) => answering.log.unfinished(error));
  };
}

/**
 * Sends items as the reader takes them: the next one is asked for when the one before is with the system, because its
 * bytes may be lent. The first one is there before anything is sent, so that a refusal is a status without an answer.
 */
async function send<Request, Response>(
  call: ServerWritableStream<Request, Response>,
  items: AsyncIterable<Response | undefined>,
  { deadline, answering }: { deadline: Deadline; answering: Answering },
): Promise<void> {
  const writer = new MessageWriter(call, answering.rules.stallTimeoutMs);
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
  answering: Answering,
): void {
  explain(error, call.metadata, answering);
  if (error instanceof ReaderStalled) answering.reset(call.metadata);
  else if (!call.cancelled) call.emit('error', statusOf(error));
}

/** Tells the own log of failures that are the node's, not the client's. */
function explain(error: unknown, metadata: Metadata, { log, loggedOf, failed }: Answering): void {
  if (error instanceof ClientGone) return;
  const code = codeOf(error);
  const isCut = error instanceof ReaderStalled;
  if (isCut || code === 'INTERNAL') failed(metadata, error);
  if (isCut) log.cut(loggedOf(metadata), error);
  else if (code === 'INTERNAL') log.failed(loggedOf(metadata), error);
  else log.refused(loggedOf(metadata), code);
}
