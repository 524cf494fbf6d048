import { constants } from 'node:http2';
import { type Metadata, type ServerInterceptingCallInterface, status } from '@grpc/grpc-js';
import { type ErrorCode, isErrorCode, PortholeError, type Query } from '@porthole/contract';
import type { Credentials } from '../auth/access.ts';
import { clientKey, plainAddress } from '../auth/client-network.ts';
import { TooManyFailures } from '../auth/failure-limit.ts';
import type { AuthResult, Identity } from '../auth/identity.ts';
import type { CredentialsEnded } from '../auth/session-revalidation.ts';
import { errorMessage, type LoggedRequest } from '../transport/request-log.ts';
import type { StreamUser } from '../transport/stream-slots.ts';
import { type ChunkCall, getHttp2Stream } from './chunk-call.ts';
import { toCallStatus } from './errors.ts';
import type { GateOptions } from './gate.ts';
import { findCallRoute, isKnownCall, requiredRole } from './method-routes.ts';
import type { OversizedRequest } from './oversized-request.ts';
import { toQuery } from './request-query.ts';

/** What a call ends with, as far as it is told. */
interface SentStatus {
  code?: status | null | undefined;
  metadata?: Metadata | null | undefined;
}

const NO_QUERY: Query = { getAll: () => [] };

export function stoppingError(): PortholeError {
  return new PortholeError('SHUTTING_DOWN', 'the node is stopping');
}

/** The same for all connections of a client, and the same as over HTTP. */
function peerAddress(call: ServerInterceptingCallInterface): string {
  return call.getPeer().replace(/:\d+$/, '');
}

/** One call, from its arrival to its status. */
export class CallLifecycle {
  /** What was sent by us; the library itself sends some without passing here. */
  status: status | undefined;
  /** The message that came with it. */
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
  authorize(metadata: Metadata, next: () => void): void {
    const { access, checkRate, isStopping } = this.#options.rules;
    const [authorization] = metadata.get('authorization');
    this.#via = metadata.get('porthole-via')[0]?.toString();
    const credentials: Credentials = {
      authorization: authorization?.toString(),
      socket: getHttp2Stream(this.#call).session?.socket,
      address: plainAddress(peerAddress(this.#call)),
    };
    this.#credentials = credentials;
    const decide = (verdict: AuthResult) => {
      if (this.#hasEnded) return; // nobody is left to be answered
      if ('identity' in verdict) this.#identity = verdict.identity;
      access.authorize(verdict, requiredRole(this.#path), {
        credentials: credentials,
        where: 'the metadata "authorization: Bearer TOKEN"',
      });
      if (isStopping()) throw stoppingError();
      next();
    };
    try {
      checkRate(peerAddress(this.#call));
      const found = access.authenticate(credentials);
      if (found instanceof Promise) found.then(decide).catch((error) => this.#refuse(error));
      else decide(found);
    } catch (error) {
      this.#refuse(error);
    }
  }

  get user(): Omit<StreamUser, 'isEndless'> {
    const identity = this.#identity;
    const address = plainAddress(peerAddress(this.#call));
    return { client: clientKey({ identity, address }), isMember: identity?.isMember ?? false };
  }

  /** Until the call has ended. */
  watchSession(end: (reason: CredentialsEnded) => void): void {
    if (!this.#credentials || this.#hasEnded) return;
    const { access } = this.#options.rules;
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

  failed(error: unknown): void {
    this.#failure = errorMessage(error);
  }

  refuseOversized({ bytes }: OversizedRequest): void {
    this.status = status.RESOURCE_EXHAUSTED;
    const details = `the request has ${bytes} bytes, more than the ${this.#options.maxRequestBytes} of grpc.max-request-bytes`;
    this.#call.sendStatus({ code: this.status, details });
  }

  /** The library offers no way to end it at once. */
  reset(): void {
    this.status = status.RESOURCE_EXHAUSTED;
    getHttp2Stream(this.#call).close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  ended(): void {
    this.#hasEnded = true;
    this.#unwatchSession?.();
    const { rules, log } = this.#options;
    const code =
      this.status ?? (Number(this.#call.getDeadline()) <= Date.now() ? status.DEADLINE_EXCEEDED : status.CANCELLED);
    const seconds = (performance.now() - this.#startedMs) / 1000;
    rules.metrics.countCall({ method: this.#method, status: status[code], seconds });
    rules.accessLog.note({
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
    });
    log.completed(this.logged, { status: status[code], bytes: this.response?.sent.bytes, ms: seconds * 1000 });
  }

  #refuse(error: unknown): void {
    if (this.status !== undefined) return; // it was too late already
    const refusal = toCallStatus(error);
    this.#isSuspicious = error instanceof TooManyFailures && error.isFirst;
    this.recordStatus(refusal);
    this.#call.sendStatus(refusal);
  }
}
