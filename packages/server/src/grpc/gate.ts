import {
  type Metadata,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
} from '@grpc/grpc-js';
import type { CredentialsEnded } from '../auth/standing-visits.ts';
import type { DoorRules } from '../doors/door-rules.ts';
import type { LoggedRequest, RequestLog } from '../doors/request-log.ts';
import type { StreamUser } from '../doors/stream-slots.ts';
import { CallCourse, stopping } from './call-course.ts';
import { ChunkCall } from './chunk-call.ts';
import { statusOf } from './errors.ts';
import { OversizedRequest } from './oversized-request.ts';
import { isHealthCall } from './route-of-method.ts';

export interface GateOptions {
  rules: Pick<DoorRules, 'access' | 'accessLog' | 'checkRate' | 'isStopping' | 'metrics'>;
  /** A request must arrive whole in this time. */
  arrivalTimeoutMs: number;
  maxRequestBytes: number;
  log: RequestLog;
}

/**
 * Every call passes here: who is let in, and what became of it. Unlike over HTTP the name that was asked for does not
 * count: no web page can speak this protocol, so there is none whose name could have been turned to this address.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #watches = new Set<ServerInterceptingCallInterface>();
  readonly #courses = new WeakMap<Metadata, CallCourse>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  readonly interceptor: ServerInterceptor = ({ path, requestStream }, call) => {
    const course = new CallCourse(path, call, this.#options);
    const isHealth = isHealthCall(path);
    const arrival = requestStream || isHealth ? undefined : course.limitArrival();
    if (isHealth) this.#watches.add(call);
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        this.#courses.set(metadata, course);
        if (isHealth) next(metadata);
        else course.admit(metadata, () => next(metadata));
      })
      .withOnReceiveMessage((message, next) => {
        if (message instanceof OversizedRequest) return course.refuseOversized(message);
        course.request ??= message;
        next(message);
      })
      .withOnReceiveHalfClose((next) => {
        clearTimeout(arrival);
        next();
      })
      .withOnCancel(() => {
        clearTimeout(arrival);
        this.#watches.delete(call);
        course.ended();
      })
      .build();
    course.answer = new ChunkCall(call, {
      start: (next) => next(listener),
      sendStatus: (sent, next) => {
        course.tellStatus(sent);
        next(sent);
      },
    });
    return course.answer;
  };

  /** What the own log may say of a call. */
  loggedOf(metadata: Metadata): LoggedRequest {
    return this.#courses.get(metadata)?.logged ?? { id: '', method: 'gRPC', route: 'none' };
  }

  /** Keeps what the node could not do for the access log. */
  failed(metadata: Metadata, error: unknown): void {
    this.#courses.get(metadata)?.failed(error);
  }

  /** Ends a call whose reader takes nothing: a status would wait behind the messages it does not read. */
  reset(metadata: Metadata): void {
    this.#courses.get(metadata)?.reset();
  }

  /** Whom a call is of that was let in. */
  userOf(metadata: Metadata): Omit<StreamUser, 'isEndless'> {
    return this.#courses.get(metadata)?.user ?? { client: '', isMember: false };
  }

  /** For a call that does not end by itself: `end` is called when its credentials count no longer. */
  stay(metadata: Metadata, end: (reason: CredentialsEnded) => void): void {
    this.#courses.get(metadata)?.stay(end);
  }

  /** Health watches never end by themselves. */
  endWatches(): void {
    for (const call of this.#watches) call.sendStatus({ ...statusOf(stopping()) });
  }
}
