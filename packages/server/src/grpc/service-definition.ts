import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer, type PackageDefinition } from '@grpc/proto-loader';
import { getRoute, type Parameter, type Query, type RouteId, type RouteRole } from '@porthole/contract';
import { DESCRIPTOR_BASE64, LOADED_BASE64 } from './generated/descriptor.ts';
import { DESCRIPTOR_BASE64 as HEALTH_BASE64 } from './generated/health-descriptor.ts';
import type { NodeStateServiceMethods } from './generated/messages.ts';

/** The methods of the service by name. */
export type MethodName = keyof NodeStateServiceMethods;

/** Numbers as numbers, default values for fields without presence. */
const OPTIONS = { longs: Number, enums: String, defaults: true };

/** The methods of the service, with serializers of their messages, whose fields are named like those of our objects. */
export type NodeStateDefinition = ServiceDefinition & Record<MethodName, MethodDefinition<object, object>>;

export function loadServiceDefinition(): NodeStateDefinition {
  const loaded = loadFileDescriptorSetFromBuffer(Buffer.from(LOADED_BASE64, 'base64'), OPTIONS);
  return loaded[SERVICE_NAME] as unknown as NodeStateDefinition;
}

/**
 * The descriptors for reflection, from the compiler: those written by proto-loader do not say which fields are optional, and
 * have relative names, which strict clients refuse.
 */
export function reflectedPackage(): PackageDefinition {
  const files = { [SERVICE_NAME]: DESCRIPTOR_BASE64, [HEALTH_NAME]: HEALTH_BASE64 };
  const entries = Object.entries(files).map(([name, set]) => [
    name,
    { format: '', type: {}, fileDescriptorProtos: [onlyFile(Buffer.from(set, 'base64'))] },
  ]);
  return Object.fromEntries(entries) as PackageDefinition;
}

/** A descriptor set with one file is that file after a tag and its length; neither service imports another file. */
function onlyFile(set: Buffer): Buffer {
  let start = 1;
  while (((set[start] ?? 0) & 0x80) !== 0) start++;
  return set.subarray(start + 1);
}

export const SERVICE_NAME = 'porthole.v1.NodeStateService';

/** The corresponding HTTP route of each method: it has the same role, limits and parameters. */
export const METHOD_ROUTES: Readonly<Record<MethodName, RouteId>> = {
  Describe: 'node',
  GetConfig: 'config',
  GetSettings: 'settings',
  GetConfigHistory: 'configHistory',
  GetConfigVersion: 'configVersion',
  GetIncident: 'incident',
  ListLogs: 'logList',
  DescribeLogs: 'logFiles',
  StatLog: 'logRaw',
  ViewLog: 'logView',
  ReadLog: 'logRaw',
  SearchLogs: 'logSearch',
  FollowLogs: 'logFollow',
  CountLogs: 'logHistogram',
  DigestLogs: 'logDigest',
  ListFields: 'logFields',
  CountValues: 'logTop',
  ExplainQuery: 'logExplain',
};

const HEALTH_NAME = 'grpc.health.v1.Health';
const HEALTH_PREFIX = `/${HEALTH_NAME}/`;

export function isHealthCall(path: string): boolean {
  return path.startsWith(HEALTH_PREFIX);
}

/** The route of a call; `undefined` for health and reflection. */
export function findCallRoute(path: string): RouteId | undefined {
  const prefix = `/${SERVICE_NAME}/`;
  const method = path.startsWith(prefix) ? path.slice(prefix.length) : '';
  return Object.hasOwn(METHOD_ROUTES, method) ? METHOD_ROUTES[method as MethodName] : undefined;
}

/** Whether the path is that of an existing method: anything else is made up by a client. */
export function isKnownCall(path: string): boolean {
  return findCallRoute(path) !== undefined || /^\/grpc\.health\.v1\.Health\/(?:Check|List|Watch)$/.test(path);
}

/** The role a call requires. Reflection is for all authenticated clients. */
export function requiredRole(path: string): RouteRole {
  if (isHealthCall(path)) return 'none';
  const route = findCallRoute(path);
  return route === undefined ? 'any' : getRoute(route).role;
}

/** Rows of the parameter table that have a field in a request message, by the name of the parameter. */
const ROWS: ReadonlyMap<string, { field: string; codec: Parameter['codec'] }> = new Map(
  [...Object.values(METHOD_ROUTES), 'events' as const]
    .flatMap((id) => getRoute(id).parameters)
    .flatMap(({ name, proto, codec }) =>
      typeof proto === 'string' ? [[name, { field: toCamelCase(proto), codec }]] : [],
    ),
);

/** The name of a field in messages: `timeMs` for `time_ms`. */
function toCamelCase(name: string): string {
  return name.replace(/_[a-z]/g, (letter) => letter.charAt(1).toUpperCase());
}

interface Message {
  filter?: object | null | undefined;
  selection?: object | null | undefined;
  events?: object | null | undefined;
}

/**
 * The fields of a message, including those of its filter and of its scopes, as the parameters of the same request over
 * HTTP: both are validated by the same parsers, with the same errors.
 */
export function toQuery(message: object & Message): Query {
  const fields: Readonly<Record<string, unknown>> = {
    ...message.filter,
    ...message.selection,
    ...message.events,
    ...message,
  };
  return {
    getAll(name) {
      const row = ROWS.get(name);
      const value = row && fields[row.field];
      if (value === undefined || value === null) return [];
      if (Array.isArray(value)) return value.map(String);
      return row?.codec.fromProto?.(value) ?? [String(value)];
    },
  };
}
