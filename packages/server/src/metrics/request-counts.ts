import { Durations, type Metric, type Sample } from './prometheus-text.ts';

export interface RequestOutcome {
  route: string;
  method: string;
  status: number;
  bytes: number;
  seconds: number;
}

/**
 * Why a response ended before its last byte: the client stalled or disconnected, its credentials ended, or the source
 * failed.
 */
export type CutReason = 'stalled' | 'client' | 'credentials' | 'source';

/** Where a mistake in this program showed: in a request, by its transport, or in nothing that could be traced to one. */
export type FaultPlace = 'http' | 'grpc' | 'process';

interface RouteCounts {
  /** Requests by method and status. */
  requests: Map<string, Map<number, number>>;
  bytes: number;
  durations: Durations;
}

/** Counters of completed requests. Called for every request, so counting is plain arithmetic. */
export class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>();
  readonly #cuts: Record<CutReason, number> = { stalled: 0, client: 0, credentials: 0, source: 0 };

  count({ route, method, status, bytes, seconds }: RequestOutcome): void {
    const counts = this.#routes.get(route) ?? this.#begin(route);
    const byStatus = counts.requests.get(method) ?? new Map<number, number>();
    if (byStatus.size === 0) counts.requests.set(method, byStatus);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    counts.bytes += bytes;
    counts.durations.count(seconds);
  }

  countCut(reason: CutReason): void {
    this.#cuts[reason]++;
  }

  metrics(): Metric[] {
    const routes = [...this.#routes];
    return [
      {
        name: 'porthole_http_requests_total',
        type: 'counter',
        help: 'Completed requests, by route, method and status.',
        samples: routes.flatMap(requestSamples),
      },
      {
        name: 'porthole_http_response_bytes_total',
        type: 'counter',
        help: 'Bytes of response bodies sent, by route.',
        samples: routes.map(([route, { bytes }]) => ({ labels: { route }, value: bytes })),
      },
      {
        name: 'porthole_http_request_duration_seconds',
        type: 'histogram',
        help: 'Time from the request to the last byte of its response, by route.',
        samples: routes.flatMap(([route, { durations }]) => durations.samples({ route })),
      },
      {
        name: 'porthole_http_cut_answers_total',
        type: 'counter',
        help: 'Responses that ended before their last byte, by reason: stalled, client, credentials, source.',
        samples: Object.entries(this.#cuts).map(([reason, value]) => ({ labels: { reason }, value })),
      },
    ];
  }

  #begin(route: string): RouteCounts {
    const counts = { requests: new Map<string, Map<number, number>>(), bytes: 0, durations: new Durations() };
    this.#routes.set(route, counts);
    return counts;
  }
}

function requestSamples([route, { requests }]: [string, RouteCounts]): Sample[] {
  return [...requests].flatMap(([method, byStatus]) =>
    [...byStatus].map(([status, value]) => ({ labels: { route, method, status: String(status) }, value })),
  );
}

export interface CallOutcome {
  /** Service and method. */
  method: string;
  /** Name of the gRPC status. */
  status: string;
  seconds: number;
}

interface MethodCounts {
  calls: Map<string, number>;
  durations: Durations;
}

/** Counts of gRPC calls. */
export class CallCounts {
  readonly #methods = new Map<string, MethodCounts>();

  count({ method, status, seconds }: CallOutcome): void {
    const counts = this.#methods.get(method) ?? { calls: new Map<string, number>(), durations: new Durations() };
    this.#methods.set(method, counts);
    counts.calls.set(status, (counts.calls.get(status) ?? 0) + 1);
    counts.durations.count(seconds);
  }

  metrics(): Metric[] {
    const methods = [...this.#methods];
    return [
      {
        name: 'porthole_grpc_calls_total',
        type: 'counter',
        help: 'gRPC calls ended, by method and status.',
        samples: methods.flatMap(([method, { calls }]) =>
          [...calls].map(([status, value]) => ({ labels: { method, status }, value })),
        ),
      },
      {
        name: 'porthole_grpc_call_duration_seconds',
        type: 'histogram',
        help: 'Time from the call to its status, by method.',
        samples: methods.flatMap(([method, { durations }]) => durations.samples({ method })),
      },
    ];
  }
}
