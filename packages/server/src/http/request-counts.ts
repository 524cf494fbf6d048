import type { Metric, Sample } from './prometheus-text.ts';

export interface RequestOutcome {
  route: string;
  method: string;
  status: number;
  bytes: number;
  seconds: number;
}

/** Why an answer ended before its last byte: the reader stalled, the client left, or the source failed. */
export type CutReason = 'stalled' | 'client' | 'source';

/** Upper ends of the duration buckets, in seconds; one without end follows. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

interface RouteCounts {
  /** Requests by `method status`. */
  requests: Map<string, number>;
  bytes: number;
  seconds: number;
  /** Requests by bucket, each counted in the first one it fits. */
  durations: number[];
}

/** Counts of answered requests. Every request passes here, so counting is plain arithmetic. */
export class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>();
  readonly #cuts: Record<CutReason, number> = { stalled: 0, client: 0, source: 0 };

  count({ route, method, status, bytes, seconds }: RequestOutcome): void {
    const counts = this.#routes.get(route) ?? this.#begin(route);
    const kind = `${method} ${status}`;
    counts.requests.set(kind, (counts.requests.get(kind) ?? 0) + 1);
    counts.bytes += bytes;
    counts.seconds += seconds;
    const bucket = bucketOf(seconds);
    counts.durations[bucket] = (counts.durations[bucket] ?? 0) + 1;
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
        help: 'Requests answered, by route, method and status.',
        samples: routes.flatMap(requestSamples),
      },
      {
        name: 'porthole_http_response_bytes_total',
        type: 'counter',
        help: 'Bytes of answer bodies sent, by route.',
        samples: routes.map(([route, { bytes }]) => ({ labels: { route }, value: bytes })),
      },
      {
        name: 'porthole_http_request_duration_seconds',
        type: 'histogram',
        help: 'Time from the request to the last byte of its answer, by route.',
        samples: routes.flatMap(durationSamples),
      },
      {
        name: 'porthole_http_cut_answers_total',
        type: 'counter',
        help: 'Answers that ended before their last byte, by reason: stalled, client, source.',
        samples: Object.entries(this.#cuts).map(([reason, value]) => ({ labels: { reason }, value })),
      },
    ];
  }

  #begin(route: string): RouteCounts {
    const durations = Array.from({ length: BUCKETS.length + 1 }, () => 0);
    const counts = { requests: new Map<string, number>(), bytes: 0, seconds: 0, durations };
    this.#routes.set(route, counts);
    return counts;
  }
}

function bucketOf(seconds: number): number {
  const index = BUCKETS.findIndex((end) => seconds <= end);
  return index < 0 ? BUCKETS.length : index;
}

function requestSamples([route, { requests }]: [string, RouteCounts]): Sample[] {
  return [...requests].map(([kind, value]) => {
    const [method = '', status = ''] = kind.split(' ');
    return { labels: { route, method, status }, value };
  });
}

function durationSamples([route, { durations, seconds }]: [string, RouteCounts]): Sample[] {
  let count = 0;
  const buckets = durations.map((inBucket, index): Sample => {
    count += inBucket;
    return { suffix: '_bucket', labels: { le: BUCKETS[index] ?? '+Inf', route }, value: count };
  });
  const labels = { route };
  return [...buckets, { suffix: '_sum', labels, value: seconds }, { suffix: '_count', labels, value: count }];
}
