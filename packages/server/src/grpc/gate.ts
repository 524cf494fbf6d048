import {
  type Metadata,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
} from '@grpc/grpc-js';
import type { CredentialsEnded } from '../auth/session-revalidation.ts';
import type { LoggedRequest, RequestLog } from '../transport/request-log.ts';
import type { RequestPolicy } from '../transport/request-policy.ts';
import type { StreamUser } from '../transport/stream-slots.ts';
import { CallLifecycle, OversizedRequest, stoppingError } from './call-lifecycle.ts';
import { ChunkCall } from './chunk-call.ts';
import { toCallStatus } from './errors.ts';
import { isHealthCall } from './service-definition.ts';

export interface GateOptions {
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

  /** The call as it may appear in the own log. */
  loggedRequest(metadata: Metadata): LoggedRequest {
    return this.#lifecycles.get(metadata)?.logged ?? { id: '', method: 'gRPC', route: 'none' };
  }

  /** Keeps a failure of the node for the access log. */
  failed(metadata: Metadata, error: unknown): void {
    this.#lifecycles.get(metadata)?.failed(error);
  }

  fault(metadata: Metadata, error: unknown): void {
    this.#lifecycles.get(metadata)?.fault(error);
  }

  /** Ends a call whose client does not read: a status would wait behind the unread messages. */
  reset(metadata: Metadata): void {
    this.#lifecycles.get(metadata)?.reset();
  }

  /** The client of an authorized call. */
  streamUser(metadata: Metadata): Omit<StreamUser, 'isEndless'> {
    return this.#lifecycles.get(metadata)?.user ?? { client: '', isMember: false };
  }

  /** For a call that does not end by itself: `end` is called when its credentials are no longer valid. */
  watchSession(metadata: Metadata, end: (reason: CredentialsEnded) => void): void {
    this.#lifecycles.get(metadata)?.watchSession(end);
  }

  /** Health watches never end by themselves. */
  endWatches(): void {
    for (const call of this.#watches) call.sendStatus({ ...toCallStatus(stoppingError()) });
  }
}
