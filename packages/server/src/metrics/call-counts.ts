import { Durations } from './durations.ts';
import type { Metric } from './prometheus-text.ts';

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
