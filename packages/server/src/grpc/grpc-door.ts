import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { type NodeState, type RouteId, routeOf } from '@porthole/contract';
import { HealthImplementation, protoPath } from 'grpc-health-check';
import type { DoorRules } from '../doors/door-rules.ts';
import type { Logger } from '../own-log/logger.ts';
import type { TlsFiles } from '../tls-files.ts';
import { type Answering, answerInPieces, answerOnce } from './answer-call.ts';
import type { Calls, MethodName, StreamCall, UnaryCall } from './calls/calls.ts';
import { createLogCalls } from './calls/log-calls.ts';
import { createNodeCalls } from './calls/node-calls.ts';
import { createRecordCalls } from './calls/record-calls.ts';
import { Gate } from './gate.ts';
import type { GrpcDoor } from './grpc-server.ts';
import { boundingRequests } from './oversized-request.ts';
import {
  loadServiceDefinition,
  type NodeStateDefinition,
  reflectedPackage,
  SERVICE_NAME,
} from './service-definition.ts';

/** A client that is gone without a word is noticed after so long, although nothing is to be told to it. */
const KEEP_ALIVE = { 'grpc.keepalive_time_ms': 60_000, 'grpc.keepalive_timeout_ms': 20_000 };

/** The route that answers the same over HTTP. */
export const ROUTE_OF_METHOD: Readonly<Record<MethodName, RouteId>> = {
  Describe: 'node',
  GetConfig: 'config',
  GetSettings: 'settings',
  ListLogs: 'logList',
  DescribeLogs: 'logFiles',
  StatLog: 'logRaw',
  ViewLog: 'logView',
  ReadLog: 'logRaw',
  SearchLogs: 'logSearch',
  FollowLogs: 'logFollow',
  CountLogs: 'logHistogram',
  DigestLogs: 'logDigest',
};

export interface GrpcDoorParts {
  state: NodeState;
  rules: DoorRules;
  tls: TlsFiles | undefined;
  log: Logger;
  arrivalTimeoutMs: number;
  maxRequestBytes: number;
}

/** Everything between an accepted connection and the node: the service, health and reflection. */
export function createGrpcDoor(parts: GrpcDoorParts): GrpcDoor {
  const gate = new Gate(parts);
  const server = new Server({ ...KEEP_ALIVE, 'grpc.enable_channelz': 0, interceptors: [gate.interceptor] });
  const definition = loadServiceDefinition();
  server.addService(limited(definition, parts), implementation(definition, parts, gate));
  const health = new HealthImplementation({ '': 'SERVING', [SERVICE_NAME]: 'SERVING' });
  health.addToServer(server);
  new ReflectionService({ ...loadSync(protoPath, { keepCase: true }), ...reflectedPackage() }).addToServer(server);
  const connections = server.createConnectionInjector(credentials(parts.tls));
  return {
    accept: (socket) => connections.injectConnection(socket),
    stop() {
      for (const service of ['', SERVICE_NAME]) health.setStatus(service, 'NOT_SERVING');
      gate.endWatches();
      return new Promise((resolve) => server.tryShutdown(() => resolve()));
    },
  };
}

function limited(definition: NodeStateDefinition, { maxRequestBytes }: GrpcDoorParts): NodeStateDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [name, boundingRequests(method, maxRequestBytes)]),
  ) as NodeStateDefinition;
}

function implementation(
  definition: NodeStateDefinition,
  { state, rules, log }: GrpcDoorParts,
  gate: Gate,
): UntypedServiceImplementation {
  const calls: Calls = { ...createNodeCalls(state), ...createLogCalls(state), ...createRecordCalls(state, rules) };
  const names = Object.keys(calls) as MethodName[];
  const handlers = names.map((method) => {
    const takesSlot = routeOf(ROUTE_OF_METHOD[method]).stream ?? false;
    const answering: Answering = { rules, log, method, takesSlot, reset: (metadata) => gate.reset(metadata) };
    const call: StreamCall<never, object> | UnaryCall<never, object> = calls[method];
    const handler = definition[method].responseStream
      ? answerInPieces(call as StreamCall<never, object>, answering)
      : answerOnce(call as UnaryCall<never, object>, answering);
    return [method, handler] as const;
  });
  return Object.fromEntries(handlers) as UntypedServiceImplementation;
}

function credentials(tls: TlsFiles | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  return ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
}
