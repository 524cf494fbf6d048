import { constants } from 'node:http2';
import { type Metadata, type MethodDefinition, type ServerInterceptingCallInterface, status } from '@grpc/grpc-js';
import { type ErrorCode, errorMessage, isErrorCode, PortholeError, type Query } from '@porthole/contract';
import type { Credentials } from '../auth/access.ts';
import { clientKey, plainAddress } from '../auth/client-network.ts';
import { TooManyFailures } from '../auth/failure-limit.ts';
import type { AuthResult, Identity } from '../auth/identity.ts';
import type { CredentialsEnded } from '../auth/session-revalidation.ts';
import { isFault } from '../errors.ts';
import type { LoggedRequest } from '../transport/request-log.ts';
import type { StreamUser } from '../transport/stream-slots.ts';
import { type ChunkCall, getHttp2Stream } from './chunk-call.ts';
import { toCallStatus } from './errors.ts';
import type { GateOptions } from './gate.ts';
import { toQuery } from './request-query.ts';
import { findCallRoute, isKnownCall, requiredRole } from './service-definition.ts';

/** The status a call ends with, as far as known. */
interface SentStatus {
  code?: status | null | undefined;
  metadata?: Metadata | null | undefined;
}

const NO_QUERY: Query = { getAll: () => [] };

export function stoppingError(): PortholeError {
  return new PortholeError('SHUTTING_DOWN', 'the node is stopping');
}

/** The address without the port, as over HTTP. */
function peerAddress(call: ServerInterceptingCallInterface): string {
  return call.getPeer().replace(/:\d+$/, '');
}

/** One call, from its arrival to its status. */
export class CallLifecycle {
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

  get user(): Omit<StreamUser, 'isEndless'> {
    const identity = this.#identity;
    const address = plainAddress(peerAddress(this.#call));
    return { client: clientKey({ identity, address }), isMember: identity?.isMember ?? false };
  }

  /** Until the call has ended. */
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

  /** The library has no way to end a call at once. */
  reset(): void {
    this.status = status.RESOURCE_EXHAUSTED;
    getHttp2Stream(this.#call).close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  ended(): void {
    this.#hasEnded = true;
    this.#unwatchSession?.();
    const { policy, log } = this.#options;
    const code =
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
export class OversizedRequest {
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
