import {
  type ErrorCode,
  getRoute,
  parseLogSource,
  parseTraceparent,
  type Query,
  ROUTE_IDS,
  type RouteId,
} from '@porthole/contract';
import { ONCE, Shared, unneeded } from '@porthole/logs/shared';
import { futureRealPath } from '../own-dirs.ts';
import type { Logger, OwnLog } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import type { Identity } from './identity.ts';

export type AccessLogMode = 'off' | 'security' | 'all';

/** Refusals that indicate an attempted intrusion. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'HOST_NOT_ALLOWED',
  'ORIGIN_NOT_ALLOWED',
  'AUTH_UNAVAILABLE',
]);

/** Longer values are cut, so that a client cannot fill the log with one request. */
const MAX_VALUE_CHARS = 256;

/** Maximum length of the message of a failure. */
const MAX_FAILURE_CHARS = 2048;

/** Logged values of a repeated parameter. */
const MAX_VALUES = 8;

/** Routes with configurations and whole files. */
const SENSITIVE: ReadonlySet<RouteId> = new Set(
  ROUTE_IDS.filter((id) => id === 'logRaw' || ['config', 'admin'].includes(getRoute(id).role)),
);

/** One completed request. */
export interface AccessEntry {
  identity: Identity | undefined;
  address: string;
  transport: 'http' | 'grpc';
  /** For a gRPC method or a member's route: the corresponding route of this node. */
  route: RouteId | undefined;
  /** As in the metrics. */
  operation: string;
  query: Query;
  /** HTTP status, or the name of the gRPC one. */
  status: number | string;
  code: ErrorCode | undefined;
  /** Logged although its code alone would not be. */
  isSuspicious: boolean;
  /** The id of the request in the own log, which has no other details of it. */
  id: string;
  /** The message of the failure; `undefined` if nothing failed. */
  failure: string | undefined;
  bytes: number | undefined;
  records: number | undefined;
  ms: number;
  /** The member that sent the request, as claimed by the request. */
  via: string | undefined;
  /** The header, as the client has sent it. */
  traceparent: string | undefined;
}

export interface AccessLog {
  /** Whether every request is logged, so that response records must be counted. */
  logsAll: boolean;
  note(entry: AccessEntry): void;
  /** Why it cannot be written now; `undefined` if it can. */
  readonly problem: string | undefined;
  close(): Promise<void>;
  /** For a process that is about to exit. */
  flushSync(): void;
}

export interface AccessLogDeps {
  mode: AccessLogMode;
  /** Whether credentials are required: otherwise clients are unknown and reads are not logged. */
  isGuarded: boolean;
  isDenied(file: string): boolean;
  /** Called before the first entry, so that an empty file is never created. */
  open(): Promise<OwnLog>;
}

/** The access log: who has read what. */
export function createAccessLog({ mode, isGuarded, isDenied, open }: AccessLogDeps): AccessLog {
  const opening = new Shared<OwnLog>(ONCE);
  let opened: OwnLog | undefined;
  let log: Logger | undefined;
  let isClosed = false;
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
    get problem() {
      const { isFailing, lastError } = opened?.stats() ?? {};
      return isFailing ? lastError : undefined;
    },
    note(entry) {
      // A program that embeds the node may still pass on requests.
      if (mode === 'off' || isClosed || !isOfInterest(entry)) return;
      if (log) return writeEntry(log, entry);
      const written = opening.run(openLog).then(() => log && writeEntry(log, entry));
      void unneeded(written); // opening fails only for an invalid file name, and the name is a constant
    },
    async close() {
      isClosed = true;
      // An access log that could not be opened has nothing to close.
      await (await opening.last())?.close();
    },
    flushSync: () => opened?.flushSync(),
  };
}

function requestsDenied({ query }: AccessEntry, isDenied: (file: string) => boolean): boolean {
  const sources = query.getAll('src').map((text) => parseLogSource(text).name);
  return [...query.getAll('file'), ...sources].some(isDenied);
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
    // Only what is exactly a trace context: anything could be in it.
    traceparent: parseTraceparent(entry.traceparent)?.traceparent,
    failure: failure?.slice(0, MAX_FAILURE_CHARS),
  };
  if (failure !== undefined) log.error('', 'failed', context);
  else if (code === undefined) log.info('', 'answered', context);
  else log.warn('', 'refused', context);
}

/** Only the parameters of the route: others may contain anything, even a token. */
function loggedParameters({ route, query }: AccessEntry): { file?: string; query?: Record<string, string | string[]> } {
  if (route === undefined) return {};
  const logged = getRoute(route).parameters.flatMap(({ name, in: location = 'query' }) => {
    const values = location === 'query' ? query.getAll(name).filter((value) => value !== '') : [];
    const [first, ...others] = values.slice(0, MAX_VALUES).map((value) => value.slice(0, MAX_VALUE_CHARS));
    if (first === undefined) return [];
    return [[name, others.length === 0 ? first : [first, ...others]] as const];
  });
  const { file, ...rest } = Object.fromEntries(logged);
  return { ...(typeof file === 'string' && { file }), ...(Object.keys(rest).length > 0 && { query: rest }) };
}

/** The access log, in the directory of the own log and rotated like it. */
export const ACCESS_LOG = 'access.log';

/**
 * The logs that are never served: those denied by the settings and, if the node serves its own directory, the access log.
 * It contains the names and requests of people, and is only for the owner of the machine.
 */
export async function hiddenLogs({ auth, logging }: Settings, shownDir: string): Promise<string[]> {
  const [own, shown] = await Promise.all([futureRealPath(logging.dir), futureRealPath(shownDir)]);
  return own === shown ? [...auth.deniedFiles, ACCESS_LOG] : [...auth.deniedFiles];
}
