import type { NodeState } from '@porthole/contract';
import { onTestFinished } from 'vitest';
import { openToAll, QUIET_ACCESS_LOG } from '../../auth/testing/open-to-all.ts';
import type { FaultPlace } from '../../metrics/metrics.ts';
import type { Logger, LogMethod } from '../../own-log/own-log.ts';
import type { RequestPolicy } from '../../transport/request-policy.ts';
import { StreamSlots } from '../../transport/stream-slots.ts';
import { createGrpcAdapter } from '../grpc-adapter.ts';
import { startGrpcServer } from '../grpc-server.ts';

const HOUR_MS = 3_600_000;

export interface ServedState {
  port: number;
  faults: FaultPlace[];
  /** Errors in the own log: the tag, the message and its context. */
  errors: Parameters<LogMethod>[];
}

export interface ServeStateOptions {
  arrivalTimeoutMs?: number;
  policy?: Partial<RequestPolicy>;
}

/** An adapter of its own in front of a node; stopped when the test ends. */
export async function serveState(
  state: NodeState,
  { arrivalTimeoutMs = HOUR_MS, policy = {} }: ServeStateOptions = {},
): Promise<ServedState> {
  const faults: FaultPlace[] = [];
  const errors: ServedState['errors'] = [];
  const log: Logger = {
    debug() {},
    info() {},
    warn() {},
    error: (...record) => errors.push(record),
    isEnabled: () => false,
  };
  const metrics = {
    countRequest() {},
    countCut() {},
    countCall() {},
    countFault: (place: FaultPlace) => faults.push(place),
    render: async () => '',
    close() {},
  };
  const server = await startGrpcServer({
    host: '127.0.0.1',
    port: 0,
    tls: undefined,
    onFailure() {},
    openAdapter: async () =>
      createGrpcAdapter({
        state,
        log,
        arrivalTimeoutMs,
        maxRequestBytes: 1024,
        policy: {
          access: openToAll(),
          accessLog: QUIET_ACCESS_LOG,
          slots: new StreamSlots({ max: 1 }),
          metrics,
          checkRate: () => undefined,
          checkLocal: undefined,
          clock: () => ({ nowMs: Date.now(), offsetMsAt: () => 0 }),
          maxRecords: 1,
          searchBudgetMs: HOUR_MS,
          countBudgetMs: HOUR_MS,
          answerTimeoutMs: HOUR_MS,
          stallTimeoutMs: HOUR_MS,
          isStopping: () => false,
          stopping: new AbortController().signal,
          endFollows() {},
          ...policy,
        },
      }),
  });
  onTestFinished(() => server.stop(0));
  return { port: server.port, faults, errors };
}
