import { constants, type Http2Server, type ServerHttp2Stream } from 'node:http2';
// owner: is given the sockets of grpc-server.ts, and owns the sessions and streams on them
import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { type ClusterState, getRoute, type NodeState } from '@porthole/contract';
import { HealthImplementation } from 'grpc-health-check';
import { describeFailure, hasCode } from '../errors.ts';
import { findRepeated } from '../http/request/authorize-request.ts';
import { Scope } from '../http/routes/scope.ts';
import type { Logger } from '../own-log/own-log.ts';
import { limitResets, reportedByClose } from '../transport/connections.ts';
import { RequestLog } from '../transport/request-log.ts';
import type { RequestPolicy } from '../transport/request-policy.ts';
import { boundingRequests, Gate, type ResponderDeps, respondStream, respondUnary } from './call-lifecycle.ts';
import {
  type Calls,
  createLogCalls,
  createNodeCalls,
  createQueryCalls,
  createRecordCalls,
  type StreamCall,
  type UnaryCall,
} from './calls/calls.ts';
import type { GrpcAdapter } from './grpc-server.ts';
import {
  loadServiceDefinition,
  METHOD_ROUTES,
  type MethodName,
  type NodeStateDefinition,
  reflectedPackage,
  SERVICE_NAME,
} from './service-definition.ts';

/** Detects clients that disappeared without closing the connection, within a minute. */
const KEEP_ALIVE = { 'grpc.keepalive_time_ms': 30_000, 'grpc.keepalive_timeout_ms': 20_000 };

/** Concurrent calls per connection; more wait in the client. Without a limit, a client could fill the memory with calls. */
const MIN_CONCURRENT_CALLS = 256;

export interface GrpcAdapterDeps {
  state: NodeState;
  /** Without it, requests about the cluster are not supported. */
  cluster?: ClusterState;
  policy: RequestPolicy;
  log: Logger;
  arrivalTimeoutMs: number;
  maxRequestBytes: number;
}

/** Connects accepted connections to the node: the service, health and reflection. */
export function createGrpcAdapter(deps: GrpcAdapterDeps): GrpcAdapter {
  const log = new RequestLog(deps.log);
  const ambiguous = new WeakSet<object>();
  const gate = new Gate({ ...deps, log, ambiguous });
  const maxConcurrentCalls = Math.max(MIN_CONCURRENT_CALLS, deps.policy.slots.max);
  const server = new Server({
    ...KEEP_ALIVE,
    'grpc.max_concurrent_streams': maxConcurrentCalls,
    'grpc.enable_channelz': 0,
    interceptors: [gate.interceptor],
  });
  const definition = loadServiceDefinition();
  server.addService(limited(definition, deps), implementation(definition, { ...deps, log }, gate));
  const health = new HealthImplementation({ '': 'SERVING', [SERVICE_NAME]: 'SERVING' });
  health.addToServer(server);
  new ReflectionService(reflectedPackage()).addToServer(server);
  // TLS is terminated before: certificates can then be renewed while the service runs.
  const connections = server.createConnectionInjector(ServerCredentials.createInsecure());
  for (const http2Server of getHttp2Servers(server)) {
    http2Server.on('session', (session) => limitResets(session, { burst: maxConcurrentCalls }));
    http2Server.prependListener(
      'stream',
      (stream: ServerHttp2Stream, ...[, , rawHeaders]: [object, number, string[]]) => {
        if (findRepeated(rawHeaders)) ambiguous.add(stream);
      },
    );
    guardStreams(http2Server, (error) => {
      deps.log.error('call', 'a call failed before it was handled', {
        id: log.newId(),
        error: describeFailure(error),
      });
      deps.policy.metrics.countFault('grpc');
    });
  }
  return {
    accept: (socket) => connections.injectConnection(socket),
    stop() {
      for (const service of ['', SERVICE_NAME]) health.setStatus(service, 'NOT_SERVING');
      gate.endWatches();
      return new Promise((resolve) => server.tryShutdown(() => resolve()));
    },
  };
}

/**
 * The sessions of connections are private in the library. Without them resets could not be limited, so a version without
 * this field is an error rather than a service without the limit.
 */
function getHttp2Servers(server: Server): Http2Server[] {
  const { http2Servers } = server as unknown as { http2Servers?: unknown };
  const servers = http2Servers instanceof Map ? [...(http2Servers as Map<Http2Server, unknown>).keys()] : [];
  if (servers.length === 0)
    throw new Error('@grpc/grpc-js does not expose its HTTP/2 servers: resets cannot be limited');
  return servers;
}

function limited(definition: NodeStateDefinition, { maxRequestBytes }: GrpcAdapterDeps): NodeStateDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [name, boundingRequests(method, maxRequestBytes)]),
  ) as NodeStateDefinition;
}

function implementation(
  definition: NodeStateDefinition,
  { state, cluster, policy, log }: Pick<GrpcAdapterDeps, 'state' | 'cluster' | 'policy'> & { log: RequestLog },
  gate: Gate,
): UntypedServiceImplementation {
  const scope = new Scope(state, cluster, async () => (await cluster?.selfId?.()) ?? '');
  const calls: Calls = {
    ...createNodeCalls(state, scope, policy),
    ...createLogCalls(state, scope),
    ...createRecordCalls(scope, policy),
    ...createQueryCalls(),
  };
  const names = Object.keys(calls) as MethodName[];
  const handlers = names.map((method) => {
    const deps: ResponderDeps = {
      policy,
      log,
      takesSlot: getRoute(METHOD_ROUTES[method]).stream ?? false,
      isEndless: method === 'FollowLogs',
      lifecycleOf: (metadata) => gate.lifecycleOf(metadata),
    };
    const call: StreamCall<never, object> | UnaryCall<never, object> = calls[method];
    const handler = definition[method].responseStream
      ? respondStream(call as StreamCall<never, object>, deps)
      : respondUnary(call as UnaryCall<never, object>, deps);
    return [method, handler] as const;
  });
  return Object.fromEntries(handlers) as UntypedServiceImplementation;
}

/**
 * Keeps a cancelled call from crashing the process: the library responds to calls with a wrong content type or an unknown
 * method without checking whether the stream still exists, and the error is not caught anywhere. Call it before the first
 * connection.
 */
function guardStreams(server: Http2Server, onError: (error: unknown) => void): void {
  const listeners = server.listeners('stream');
  server.removeAllListeners('stream');
  server.on('stream', (stream: ServerHttp2Stream, ...rest: unknown[]) => {
    reportedByClose(stream);
    if (stream.destroyed) return;
    try {
      for (const listener of listeners) listener.call(server, stream, ...rest);
    } catch (error) {
      if (!hasCode(error, 'ERR_HTTP2_INVALID_STREAM')) onError(error);
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  });
}
