import { constants } from 'node:http2';
import {
  type Metadata,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js';
import { PortholeError } from '@porthole/contract';
import { bearerOwner } from '../auth/bearer.ts';
import type { DoorRules } from '../doors/door-rules.ts';
import type { Logger } from '../own-log/logger.ts';
import { ChunkCall, http2StreamOf } from './chunk-call.ts';
import { statusOf } from './errors.ts';
import { OversizedRequest } from './oversized-request.ts';

const HEALTH_PREFIX = '/grpc.health.v1.Health/';

export interface GateOptions {
  rules: Pick<DoorRules, 'tokens' | 'checkRate' | 'isStopping' | 'metrics'>;
  /** A request must arrive whole in this time. */
  arrivalTimeoutMs: number;
  maxRequestBytes: number;
  log: Logger;
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
    const isHealth = path.startsWith(HEALTH_PREFIX);
    const arrival = requestStream || isHealth ? undefined : course.limitArrival();
    if (isHealth) this.#watches.add(call);
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        this.#courses.set(metadata, course);
        course.refuseOnThrow(() => {
          if (!isHealth) admit(call, metadata, this.#options.rules);
          next(metadata);
        });
      })
      .withOnReceiveMessage((message, next) => {
        if (message instanceof OversizedRequest) course.refuseOversized(message);
        else next(message);
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
    return new ChunkCall(call, {
      start: (next) => next(listener),
      sendStatus: (sent, next) => {
        course.status ??= sent.code ?? status.UNKNOWN;
        next(sent);
      },
    });
  };

  /** Ends a call whose reader takes nothing: a status would wait behind the messages it does not read. */
  reset(metadata: Metadata): void {
    this.#courses.get(metadata)?.reset();
  }

  /** Health watches never end by themselves. */
  endWatches(): void {
    for (const call of this.#watches) call.sendStatus({ ...statusOf(stopping()) });
  }
}

/** Decides, in this order: rate, credentials, stopping. Throws what the client is told. */
function admit(call: ServerInterceptingCallInterface, metadata: Metadata, rules: GateOptions['rules']): void {
  rules.checkRate(addressOf(call));
  const [authorization] = metadata.get('authorization');
  if (rules.tokens && bearerOwner(authorization?.toString(), rules.tokens) === undefined) {
    const message = authorization
      ? 'the token is not known to this node'
      : 'this node needs a token: send the metadata "authorization: Bearer TOKEN"';
    throw new PortholeError('UNAUTHENTICATED', message);
  }
  if (rules.isStopping()) throw stopping();
}

function stopping(): PortholeError {
  return new PortholeError('SHUTTING_DOWN', 'the node is stopping');
}

/** The same for all connections of a client, and the same as over HTTP. */
function addressOf(call: ServerInterceptingCallInterface): string {
  return call.getPeer().replace(/:\d+$/, '');
}

/** One call, from its arrival to its status. */
class CallCourse {
  /** What was sent by us; the library itself sends some without passing here. */
  status: status | undefined;
  readonly #call: ServerInterceptingCallInterface;
  readonly #options: GateOptions;
  /** Without its package: `NodeStateService/SearchLogs`. */
  readonly #method: string;
  readonly #startedMs = performance.now();

  constructor(path: string, call: ServerInterceptingCallInterface, options: GateOptions) {
    this.#call = call;
    this.#options = options;
    this.#method = path.slice(path.lastIndexOf('.') + 1);
  }

  limitArrival(): NodeJS.Timeout {
    const { arrivalTimeoutMs } = this.#options;
    const late = new PortholeError('REQUEST_TIMEOUT', `the request did not arrive within ${arrivalTimeoutMs} ms`);
    return setTimeout(() => this.#refuse(late), arrivalTimeoutMs);
  }

  refuseOnThrow(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#refuse(error);
    }
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
    const { rules, log } = this.#options;
    const code =
      this.status ?? (Number(this.#call.getDeadline()) <= Date.now() ? status.DEADLINE_EXCEEDED : status.CANCELLED);
    const seconds = (performance.now() - this.#startedMs) / 1000;
    rules.metrics.countCall({ method: this.#method, status: status[code], seconds });
    if (log.isEnabled('debug')) {
      const ms = Math.round(seconds * 1000);
      log.debug('access', 'answered', {
        method: this.#method,
        status: status[code],
        ms,
        client: addressOf(this.#call),
      });
    }
  }

  #refuse(error: unknown): void {
    const refusal = statusOf(error);
    this.status = refusal.code;
    this.#call.sendStatus(refusal);
  }
}
