import { constants } from 'node:http2';
import { type Metadata, type ServerInterceptingCallInterface, status } from '@grpc/grpc-js';
import { type ErrorCode, isErrorCode, PortholeError, type Query } from '@porthole/contract';
import type { Visitor } from '../auth/access.ts';
import { clientKey, plainAddress } from '../auth/client-network.ts';
import { TooManyFailures } from '../auth/failure-limit.ts';
import type { Identity, Verdict } from '../auth/identity.ts';
import type { CredentialsEnded } from '../auth/standing-visits.ts';
import { type LoggedRequest, messageOf } from '../doors/request-log.ts';
import type { StreamUser } from '../doors/stream-slots.ts';
import { type ChunkCall, http2StreamOf } from './chunk-call.ts';
import { statusOf } from './errors.ts';
import type { GateOptions } from './gate.ts';
import type { OversizedRequest } from './oversized-request.ts';
import { queryOf } from './request-query.ts';
import { isKnownCall, roleOfCall, routeOfCall } from './route-of-method.ts';

/** What a call ends with, as far as it is told. */
interface ToldStatus {
  code?: status | null | undefined;
  metadata?: Metadata | null | undefined;
}

const NO_QUERY: Query = { getAll: () => [] };

export function stopping(): PortholeError {
  return new PortholeError('SHUTTING_DOWN', 'the node is stopping');
}

/** The same for all connections of a client, and the same as over HTTP. */
function addressOf(call: ServerInterceptingCallInterface): string {
  return call.getPeer().replace(/:\d+$/, '');
}

/** One call, from its arrival to its status. */
export class CallCourse {
  /** What was sent by us; the library itself sends some without passing here. */
  status: status | undefined;
  /** The message that came with it. */
  request: object | undefined;
  answer: ChunkCall | undefined;
  readonly #path: string;
  readonly #call: ServerInterceptingCallInterface;
  readonly #options: GateOptions;
  /** Without its package: `NodeStateService/SearchLogs`. */
  readonly #method: string;
  readonly #startedMs = performance.now();
  #identity: Identity | undefined;
  #visitor: Visitor | undefined;
  #leave: (() => void) | undefined;
  #via: string | undefined;
  #code: ErrorCode | undefined;
  #isSuspicious = false;
  #failure: string | undefined;
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
    return setTimeout(() => this.#refuse(late), arrivalTimeoutMs);
  }

  /** Decides, in this order: rate, credentials, role, stopping; lets it in or refuses it. */
  admit(metadata: Metadata, letIn: () => void): void {
    const { access, checkRate, isStopping } = this.#options.rules;
    const [authorization] = metadata.get('authorization');
    this.#via = metadata.get('porthole-via')[0]?.toString();
    const visitor: Visitor = {
      authorization: authorization?.toString(),
      socket: http2StreamOf(this.#call).session?.socket,
      address: plainAddress(addressOf(this.#call)),
    };
    this.#visitor = visitor;
    const decide = (verdict: Verdict) => {
      if (this.#hasEnded) return; // nobody is left to be answered
      if ('identity' in verdict) this.#identity = verdict.identity;
      access.admit(verdict, roleOfCall(this.#path), { visitor, where: 'the metadata "authorization: Bearer TOKEN"' });
      if (isStopping()) throw stopping();
      letIn();
    };
    try {
      checkRate(addressOf(this.#call));
      const found = access.identify(visitor);
      if (found instanceof Promise) found.then(decide).catch((error) => this.#refuse(error));
      else decide(found);
    } catch (error) {
      this.#refuse(error);
    }
  }

  get user(): Omit<StreamUser, 'isEndless'> {
    const identity = this.#identity;
    const address = plainAddress(addressOf(this.#call));
    return { client: clientKey({ identity, address }), isMember: identity?.isMember ?? false };
  }

  /** Until the call has ended. */
  stay(end: (reason: CredentialsEnded) => void): void {
    if (!this.#visitor || this.#hasEnded) return;
    const { access } = this.#options.rules;
    this.#leave = access.stay({ visitor: this.#visitor, wanted: roleOfCall(this.#path), end });
  }

  tellStatus({ code, metadata }: ToldStatus): void {
    this.status ??= code ?? status.UNKNOWN;
    const [told] = metadata?.get('porthole-code') ?? [];
    if (isErrorCode(told)) this.#code ??= told;
  }

  failed(error: unknown): void {
    this.#failure = messageOf(error);
  }

  refuseOversized({ bytes }: OversizedRequest): void {
    this.status = status.RESOURCE_EXHAUSTED;
    const details = `the request has ${bytes} bytes, more than the ${this.#options.maxRequestBytes} of grpc.max-request-bytes`;
    this.#call.sendStatus({ code: this.status, details });
  }

  /** The library offers no way to end it at once. */
  reset(): void {
    this.status = status.RESOURCE_EXHAUSTED;
    http2StreamOf(this.#call).close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  ended(): void {
    this.#hasEnded = true;
    this.#leave?.();
    const { rules, log } = this.#options;
    const code =
      this.status ?? (Number(this.#call.getDeadline()) <= Date.now() ? status.DEADLINE_EXCEEDED : status.CANCELLED);
    const seconds = (performance.now() - this.#startedMs) / 1000;
    rules.metrics.countCall({ method: this.#method, status: status[code], seconds });
    rules.accessLog.note({
      identity: this.#identity,
      address: plainAddress(addressOf(this.#call)),
      transport: 'grpc',
      route: routeOfCall(this.#path),
      operation: this.#method,
      query: this.request ? queryOf(this.request) : NO_QUERY,
      status: status[code],
      code: this.#code,
      isSuspicious: this.#isSuspicious,
      id: this.logged.id,
      failure: this.#failure,
      bytes: this.answer?.sent.bytes,
      records: this.answer?.sent.records,
      ms: seconds * 1000,
      via: this.#via,
    });
    log.answered(this.logged, { status: status[code], bytes: this.answer?.sent.bytes, ms: seconds * 1000 });
  }

  #refuse(error: unknown): void {
    if (this.status !== undefined) return; // it was too late already
    const refusal = statusOf(error);
    this.#isSuspicious = error instanceof TooManyFailures && error.isFirst;
    this.tellStatus(refusal);
    this.#call.sendStatus(refusal);
  }
}
