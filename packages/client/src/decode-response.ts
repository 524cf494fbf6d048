import type {
  ClusterConfig,
  ClusterConfigHistory,
  ClusterCountResponses,
  ClusterLogFiles,
  ConfigHistory,
  ConfigVersion,
  CountId,
  CountResponses,
  Labels,
  NodeConfig,
  NodeDescription,
  NodeObject,
  NodeProblem,
  NodeSettings,
  RecordingHead,
  ShippingState,
} from '@porthole/contract';
import type { LearnedFormat, LogEntry, LogFileDetails, SearchEnd } from '@porthole/logs/types';
import { decodeEnd, decodeGroups, decodeList, decodeReports, SkippedItems } from './decode-records.ts';
import { isFileName, isObject, remoteText } from './field-checks.ts';

/*
 * Checks the general shape of responses, not each field, which would reject later versions. `undefined` if it is invalid. The
 * three responses of the contract also come from other implementations, so their fields are normalized.
 */

type RawFields = Readonly<Record<string, unknown>>;

/** Maximum health problems per node. */
const MAX_PROBLEMS = 32;

export function decodeConfig(value: unknown): NodeConfig | undefined {
  if (!isObject(value) || typeof value.config !== 'string' || !isObject(value.node)) return undefined;
  return { config: value.config, node: decodeNode(value.node) };
}

/** Nodes without a gRPC port omit it; others add fields. */
function decodeNode(node: RawFields): NodeObject {
  return {
    hostIp: toText(node.hostIp),
    hostName: toText(node.hostName),
    grpcPort: toNumber(node.grpcPort),
    httpPort: toNumber(node.httpPort),
    version: toText(node.version),
    onlineTime: toNumber(node.onlineTime),
  };
}

/** Failing health checks. */
function decodeProblems(value: unknown): NodeProblem[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_PROBLEMS).flatMap((problem) => {
    if (!isObject(problem) || typeof problem.check !== 'string' || typeof problem.detail !== 'string') return [];
    return [{ check: remoteText(problem.check), detail: remoteText(problem.detail) }];
  });
}

/** Empty Go slices are `null`. */
export function decodeLogList(value: unknown): LogEntry[] | undefined {
  if (value === null) return [];
  if (!Array.isArray(value) || !value.every(isEntry)) return undefined;
  return value.map(({ name, size }) => ({ name, size }));
}

export function decodeFiles(value: unknown): ClusterLogFiles | undefined {
  const response = decodeLists<ClusterLogFiles>('files', 'members')(value);
  if (!response?.files.every(isDetails)) return undefined;
  const files = response.files.map(({ learned, ...file }) => ({
    ...file,
    ...(file.problem && { problem: remoteText(file.problem) }),
    ...(isLearned(learned) && { learned }),
  }));
  return { ...response, files };
}

/* What a node answers for itself is the answer of a cluster of it: these are its own parts. */

export function decodeOwnFiles(value: unknown): LogFileDetails[] | undefined {
  const files = decodeFiles(value)?.files as (LogFileDetails & { node?: string })[] | undefined;
  return files?.map(({ node: _node, ...file }) => file);
}

/** Whether its parts are there: texts are escaped where they are shown. */
function isLearned(value: unknown): value is LearnedFormat {
  if (!isObject(value) || ![value.facts, value.samples, value.unfit].every(Array.isArray)) return false;
  const { facts, samples, unfit, example } = value as unknown as LearnedFormat;
  const texts = [...facts, ...samples.flat()].map((part) => (isObject(part) ? part.text : part));
  return [...texts, ...unfit, example].every((text) => typeof text === 'string');
}

export function decodeDescription(value: unknown): NodeDescription | undefined {
  if (!isObject(value) || !isObject(value.node)) return undefined;
  const { archive, ...description } = value as unknown as NodeDescription;
  const shipping = decodeShipping(archive);
  return {
    ...description,
    problems: decodeProblems(value.problems),
    role: typeof value.role === 'string' ? remoteText(value.role) : 'node',
    labels: isObject(value.labels) ? (value.labels as Labels) : {},
    ...(shipping && { archive: shipping }),
  };
}

/** `undefined` if it is none: then nothing is known of it. */
function decodeShipping(value: unknown): ShippingState | undefined {
  if (!isObject(value)) return undefined;
  const { lagMs, lagBytes, shippedRecords, lostBytes, problem = null } = value;
  const numbers = { lagMs, lagBytes, shippedRecords, lostBytes };
  if (!Object.values(numbers).every((each) => typeof each === 'number' && each >= 0)) return undefined;
  const text = problem === null ? null : remoteText(String(problem));
  return { ...(numbers as Omit<ShippingState, 'problem'>), problem: text };
}

const decodeConfigs = decodeLists<ClusterConfig>('configs');
const decodeHistories = decodeLists<ClusterConfigHistory>('nodes');

export function decodeOwnSettings(value: unknown): NodeSettings | undefined {
  const settings = decodeConfigs(value)?.configs[0]?.settings;
  return isObject(settings) && Array.isArray(settings.settings) ? settings : undefined;
}

export function decodeOwnHistory(value: unknown): ConfigHistory | undefined {
  const history = decodeHistories(value)?.nodes[0]?.history;
  return isObject(history) && Array.isArray(history.periods) ? history : undefined;
}

export function decodeRecordingHead(value: unknown): RecordingHead | undefined {
  if (!isObject(value)) return undefined;
  const { ageMs, lostAgeMs = null, sinceMs = null, lastRecordMs = null, clock = null } = value;
  const isNumbers = [lostAgeMs, sinceMs, lastRecordMs].every((time) => time === null || Number.isFinite(time));
  const isClock =
    clock === null || (isObject(clock) && Number.isFinite(clock.offsetMs) && Number.isFinite(clock.uncertaintyMs));
  return Number.isFinite(ageMs) && isNumbers && isClock ? (value as unknown as RecordingHead) : undefined;
}

export const decodeConfigVersion = decodeLists<ConfigVersion>('settings');

type DecodeList = (value: unknown, skipped: SkippedItems) => readonly RawFields[];

/** What each count lists. */
const COUNT_LISTS: Readonly<Record<CountId, readonly [name: string, decode: DecodeList]>> = {
  logHistogram: ['buckets', (list, skipped) => decodeList(list, 'bucket', skipped)],
  logDigest: ['groups', decodeGroups],
  logFields: ['fields', (list, skipped) => decodeList(list, 'field', skipped)],
  logTop: ['values', (list, skipped) => decodeList(list, 'value', skipped)],
};

/** The count of a node. More than the requested number is invalid. */
export function decodeCount<Id extends CountId>(
  id: Id,
  value: unknown,
  { limit = Infinity }: { limit?: number },
): CountResponses[Id] | undefined {
  const [name, decode] = COUNT_LISTS[id];
  const list = isObject(value) ? value[name] : undefined;
  if (!isObject(value) || !Array.isArray(list) || !isObject(value.end) || list.length > limit) return undefined;
  const skipped = new SkippedItems();
  const decoded = decode(list, skipped).map(withoutNodes);
  const end = endWithSkipped(decodeEnd(value.end, skipped), skipped);
  const { members: _members, counted: _counted, coverage: _coverage, ...own } = value;
  return { ...own, [name]: decoded, end } as unknown as CountResponses[Id];
}

/** A count by value, time or place, without the nodes that it is of. */
function withoutNodes({ nodes: _nodes, ...own }: RawFields): unknown {
  if (!isObject(own.sample)) return own;
  const { node: _node, atMs: _atMs, ...sample } = own.sample;
  return { ...own, sample };
}

export function decodeClusterCount<Id extends CountId>(id: Id, value: unknown): ClusterCountResponses[Id] | undefined {
  const [name, decode] = COUNT_LISTS[id];
  if (!isObject(value) || !Array.isArray(value[name]) || !Array.isArray(value.members)) return undefined;
  const skipped = new SkippedItems();
  const decoded = decode(value[name], skipped);
  const members = membersWithSkipped(value.members, skipped);
  return { ...value, [name]: decoded, members } as unknown as ClusterCountResponses[Id];
}

/** Adds skipped items as a problem of the response. */
function endWithSkipped(end: Partial<SearchEnd>, { count, detail }: SkippedItems): Partial<SearchEnd> {
  if (count === 0) return end;
  return { ...end, problems: [...(end.problems ?? []), { file: '', code: 'BAD_ANSWER', detail }] };
}

function membersWithSkipped(value: unknown, skipped: SkippedItems): unknown[] {
  const members = decodeReports(value, skipped);
  if (skipped.count === 0) return members;
  const { detail } = skipped;
  return [...members, { id: 'response', outcome: 'version', detail, elapsedMs: 0, count: 0, asOfMs: null }];
}

/** Decodes a response with these lists. */
export function decodeLists<T>(...names: readonly (keyof T & string)[]): (value: unknown) => T | undefined {
  return (value) =>
    isObject(value) && names.every((name) => Array.isArray(value[name])) ? (value as unknown as T) : undefined;
}

function isEntry(value: unknown): value is LogEntry {
  return isObject(value) && isFileName(value.name) && typeof value.size === 'number';
}

function isDetails(value: unknown): boolean {
  if (!isEntry(value)) return false;
  const { family, problem } = value as LogEntry & RawFields;
  return (family === undefined || isFileName(family)) && (problem == null || typeof problem === 'string');
}

function toText(value: unknown): string {
  return typeof value === 'string' ? remoteText(value) : '';
}

function toNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
