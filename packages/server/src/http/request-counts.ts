export interface RequestOutcome {
  route: string;
  method: string;
  status: number;
  bytes: number;
  seconds: number;
}

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

/**
 * Counts of answered requests. Every request passes here, so counting is plain arithmetic (a general metrics library
 * took a tenth of the rate of small answers), and the Prometheus text is made when someone asks for it.
 */
export class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>();

  count({ route, method, status, bytes, seconds }: RequestOutcome): void {
    const counts = this.#routes.get(route) ?? this.#begin(route);
    const kind = `${method} ${status}`;
    counts.requests.set(kind, (counts.requests.get(kind) ?? 0) + 1);
    counts.bytes += bytes;
    counts.seconds += seconds;
    const bucket = bucketOf(seconds);
    counts.durations[bucket] = (counts.durations[bucket] ?? 0) + 1;
  }

  /** In the Prometheus text format. Labels are ids and words of HTTP: nothing in them needs escaping. */
  render(): string {
    const routes = [...this.#routes];
    return [
      '# HELP porthole_http_requests_total Requests answered, by route, method and status.',
      '# TYPE porthole_http_requests_total counter',
      ...routes.flatMap(([route, { requests }]) =>
        [...requests].map(([kind, count]) => requestLine(route, kind, count)),
      ),
      '# HELP porthole_http_response_bytes_total Bytes of answer bodies sent, by route.',
      '# TYPE porthole_http_response_bytes_total counter',
      ...routes.map(([route, { bytes }]) => `porthole_http_response_bytes_total{route="${route}"} ${bytes}`),
      '# HELP porthole_http_request_duration_seconds Time from the request to the last byte of its answer, by route.',
      '# TYPE porthole_http_request_duration_seconds histogram',
      ...routes.flatMap(durationLines),
      '',
    ].join('\n');
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

function requestLine(route: string, kind: string, count: number): string {
  const [method, status] = kind.split(' ');
  return `porthole_http_requests_total{route="${route}",method="${method}",status="${status}"} ${count}`;
}

function durationLines([route, { durations, seconds }]: [string, RouteCounts]): string[] {
  const name = 'porthole_http_request_duration_seconds';
  let count = 0;
  const lines = durations.map((inBucket, index) => {
    count += inBucket;
    return `${name}_bucket{le="${BUCKETS[index] ?? '+Inf'}",route="${route}"} ${count}`;
  });
  return [...lines, `${name}_sum{route="${route}"} ${seconds}`, `${name}_count{route="${route}"} ${count}`];
}
