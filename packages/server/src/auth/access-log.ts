import { type ErrorCode, getRoute, type Query, ROUTE_IDS, type RouteId } from '@porthole/contract';
import type { Logger } from '../own-log/logger.ts';
import type { OwnLog } from '../own-log/own-log.ts';
import type { Identity } from './identity.ts';

export type AccessLogMode = 'off' | 'security' | 'all';

/** Refusals that tell of someone who tries what is not for them. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'HOST_NOT_ALLOWED']);

/** A question is told, an attempt to fill the log with one is not. */
const MAX_VALUE_CHARS = 256;

/** Of what the node could not do. */
const MAX_FAILURE_CHARS = 2048;

/** Of a parameter that is given many times. */
const MAX_VALUES = 8;

/** Configurations, and whole files. */
const SENSITIVE: ReadonlySet<RouteId> = new Set(
  ROUTE_IDS.filter((id) => id === 'logRaw' || ['config', 'admin'].includes(getRoute(id).role)),
);

/** One answered request. */
export interface AccessEntry {
  identity: Identity | undefined;
  address: string;
  transport: 'http' | 'grpc';
  /** Also of a method, and of a member's route: the same one of this node. */
  route: RouteId | undefined;
  /** As the metrics name it. */
  operation: string;
  query: Query;
  /** HTTP status, or the name of the gRPC one. */
  status: number | string;
  code: ErrorCode | undefined;
  /** Told although its code alone is none of those that are. */
  isSuspicious: boolean;
  /** The same as in the own log, which says nothing else of the request. */
  id: string;
  /** What the node could not do; `undefined` where nothing failed. */
  failure: string | undefined;
  bytes: number | undefined;
  records: number | undefined;
  ms: number;
  /** The member that asks, as it says. */
  via: string | undefined;
}

export interface AccessLog {
  /** Whether every request is told, so that it is worth to count what goes out. */
  logsAll: boolean;
  note(entry: AccessEntry): void;
  close(): Promise<void>;
  /** For a process about to end. */
  flushSync(): void;
}

export interface AccessLogDeps {
  mode: AccessLogMode;
  /** Whether clients are asked who they are: otherwise nothing can be told of a reader. */
  isGuarded: boolean;
  isDenied(file: string): boolean;
  /** Called with the first line: a node that has nothing to tell makes no file. */
  open(): Promise<OwnLog>;
}

/** Who has read what, for whoever has to find out later. */
export function createAccessLog({ mode, isGuarded, isDenied, open }: AccessLogDeps): AccessLog {
  let opening: Promise<OwnLog> | undefined;
  let opened: OwnLog | undefined;
  let log: Logger | undefined;
  const isOfInterest = (entry: AccessEntry) =>
    mode === 'all' ||
    entry.isSuspicious ||
    entry.failure !== undefined ||
    (entry.code !== undefined && REFUSALS.has(entry.code)) ||
    (isGuarded && entry.route !== undefined && SENSITIVE.has(entry.route)) ||
    requestsDenied(entry, isDenied);
  const openLog = async () => {
    opened = await open();
    log = opened.component('access');
    return opened;
  };
  return {
    logsAll: mode === 'all',
    note(entry) {
      if (mode === 'off' || !isOfInterest(entry)) return;
      if (log) return writeEntry(log, entry);
      opening ??= openLog();
      opening.then(() => log && writeEntry(log, entry)).catch(() => {}); // a name that can never work; it is ours
    },
    async close() {
      await (await opening?.catch(() => undefined))?.close();
    },
    flushSync: () => opened?.flushSync(),
  };
}

function requestsDenied({ query }: AccessEntry, isDenied: (file: string) => boolean): boolean {
  return query.getAll('file').some(isDenied) || query.getAll('family').some(isDenied);
}

function writeEntry(log: Logger, entry: AccessEntry): void {
  const { identity, address, transport, operation, status, code, bytes, records, ms, via, id, failure } = entry;
  const context = {
    who: identity?.name,
    kind: identity?.kind,
    address,
    via: via?.slice(0, MAX_VALUE_CHARS),
    transport,
    operation,
    ...loggedParameters(entry),
    status,
    code,
    bytes,
    records,
    ms: Math.round(ms),
    id,
    failure: failure?.slice(0, MAX_FAILURE_CHARS),
  };
  if (failure !== undefined) log.error('', 'failed', context);
  else if (code === undefined) log.info('', 'answered', context);
  else log.warn('', 'refused', context);
}

/** Only parameters that the route knows: in the others anything may stand, a token too. */
function loggedParameters({ route, query }: AccessEntry): { file?: string; query?: Record<string, string | string[]> } {
  if (route === undefined) return {};
  const logged = getRoute(route).parameters.flatMap(({ name, in: location }) => {
    const values = location === 'query' ? query.getAll(name).filter((value) => value !== '') : [];
    const [first, ...others] = values.slice(0, MAX_VALUES).map((value) => value.slice(0, MAX_VALUE_CHARS));
    if (first === undefined) return [];
    return [[name, others.length === 0 ? first : [first, ...others]] as const];
  });
  const { file, ...rest } = Object.fromEntries(logged);
  return { ...(typeof file === 'string' && { file }), ...(Object.keys(rest).length > 0 && { query: rest }) };
}
