import { type ClusterState, optionalValue, PortholeError, type Query, type RequestClock } from '@porthole/contract';
import { LEVELS } from '@porthole/logs/query';
import type { FieldType } from '@porthole/logs/types';
import { type LogRange, type QueryCall, queryLogs, searchOptions } from './log-query.ts';
import { type LogqlLogs, type LogqlQuery, parseDuration, parseLogql, parseSelector } from './logql.ts';
import { type EvaluationTimes, evaluationTimes, queryInstant, queryRange } from './metric-query.ts';
import { type LokiLabels, type LokiStream, labelName, Streams } from './streams.ts';

/* The requests of Loki's HTTP API that read, with its parameters and its responses. */

const HOUR_MS = 3_600_000;

/** Defaults and limits of Loki. */
const DEFAULT_LIMIT = 100;
const DEFAULT_POINTS = 250;
const MAX_SELECTORS = 10;
const MAX_PATTERNS = 1000;

export interface LokiRequest extends QueryCall {
  cluster: ClusterState;
  query: Query;
  clock: RequestClock;
  maxRecords: number;
  version: string;
}

/** The response to an operation, by the rest of the path: `query_range`, `label/log/values`. Throws ROUTE_NOT_FOUND. */
export function answerLoki(operation: string, request: LokiRequest): Promise<object> | object {
  const known = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
  if (known) return known(request);
  const [, label] = /^label\/([A-Za-z_][A-Za-z0-9_]*)\/values$/.exec(operation) ?? [];
  if (label !== undefined) return labelValues(label, request);
  throw new PortholeError(
    'ROUTE_NOT_FOUND',
    `Loki's "${operation.slice(0, 100)}" is not supported here; see docs/loki.md`,
  );
}

const OPERATIONS: Readonly<Record<string, (request: LokiRequest) => Promise<object> | object>> = {
  query: answerQuery,
  query_range: answerQueryRange,
  labels: labelNames,
  series: answerSeries,
  'index/stats': indexStats,
  'index/volume': indexVolume,
  patterns: listPatterns,
  detected_fields: detectedFields,
  'status/buildinfo': ({ version }) => ({
    version,
    revision: '',
    branch: '',
    buildUser: '',
    buildDate: '',
    goVersion: '',
  }),
};

async function answerQuery(request: LokiRequest): Promise<object> {
  const { cluster, query, clock } = request;
  const parsed = parseLogql(requiredText(query, 'query'));
  const timeMs = parseTime(query, 'time') ?? clock.nowMs;
  if (parsed.kind === 'logs')
    throw invalid(
      'log queries are not supported as an instant query type, please change your query to a range query type',
    );
  if (parsed.kind === 'constant')
    return success('vector', [{ metric: {}, value: [timeMs / 1000, String(parsed.value)] }]);
  const streams = await Streams.find(cluster, parsed.logs, call(request));
  return success('vector', await queryInstant(cluster, { metric: parsed, streams }, timeMs, call(request)), streams);
}

async function answerQueryRange(request: LokiRequest): Promise<object> {
  const { cluster, query } = request;
  const parsed: LogqlQuery = parseLogql(requiredText(query, 'query'));
  if (parsed.kind === 'constant') {
    const times = evaluationTimes(parseTimes(request));
    const values = times.map((timeMs) => [timeMs / 1000, String(parsed.value)]);
    return success('matrix', [{ metric: {}, values }]);
  }
  const streams = await Streams.find(cluster, parsed.logs, call(request));
  if (parsed.kind === 'metric')
    return success(
      'matrix',
      await queryRange(cluster, { metric: parsed, streams }, parseTimes(request), call(request)),
      streams,
    );
  if (optionalValue(query, 'interval') !== undefined && !/^0+s?$/.test(optionalValue(query, 'interval') ?? ''))
    throw invalid('"interval" is not supported here');
  const range = parseLogRange(request);
  const limit = Math.min(range.limit, request.maxRecords);
  if (limit < range.limit)
    streams.warnings.add(`at most ${limit} records are returned, the limit set by search.max-records`);
  const found = await queryLogs(cluster, { logs: parsed.logs, streams, range: { ...range, limit } }, call(request));
  return success('streams', found, streams);
}

async function labelNames(request: LokiRequest): Promise<object> {
  const streams = await selectStreams(request);
  const names = new Set(streams.streams.flatMap(({ labels }) => Object.keys(labels)));
  if (names.size > 0) names.add('level');
  return successWith([...names].sort(), streams);
}

async function labelValues(name: string, request: LokiRequest): Promise<object> {
  const streams = await selectStreams(request);
  const values =
    name === 'level' && streams.streams.length > 0
      ? LEVELS.map((level) => level.toLowerCase())
      : [...new Set(streams.streams.flatMap(({ labels }) => labels[name] ?? []))].sort();
  return successWith(values, streams);
}

/** Without the level: which ones a log has is known only after reading it. */
async function answerSeries(request: LokiRequest): Promise<object> {
  const { query, cluster } = request;
  const selectors = [...query.getAll('match[]'), ...query.getAll('match')];
  if (selectors.length === 0) throw invalid('"match[]" is missing: give a selector like {log="a.log"}');
  if (selectors.length > MAX_SELECTORS) throw invalid(`"match[]" is given more than ${MAX_SELECTORS} times`);
  const range = parseRange(request);
  const found = new Map<string, LokiLabels>();
  const warnings = new Set<string>();
  for (const selector of selectors) {
    const streams = await Streams.find(cluster, parseSelector(selector), call(request));
    for (const { labels } of withinRange(streams.streams, range)) found.set(JSON.stringify(labels), labels);
    for (const warning of streams.listWarnings()) warnings.add(warning);
  }
  return { status: 'success', data: [...found.values()], ...(warnings.size > 0 && { warnings: [...warnings] }) };
}

/** Of whole files, as they are on disk; how many records they have is not known, and `entries` is absent. */
async function indexStats(request: LokiRequest): Promise<object> {
  const streams = withinRange((await selectStreams(request)).streams, parseRange(request));
  const files = streams.flatMap((stream) => stream.files);
  return { streams: streams.length, chunks: files.length, bytes: sizeOf(files) };
}

/** The size of files by values of labels: of those that the query names, or `targetLabels`. The largest come first. */
async function indexVolume(request: LokiRequest): Promise<object> {
  const range = parseRange(request);
  const { query, clock } = request;
  const logs = parseSelector(requiredText(query, 'query'));
  const streams = await Streams.find(request.cluster, logs, call(request));
  const targets = optionalValue(query, 'targetLabels')?.split(',');
  const named = new Set(targets ?? logs.matchers.map(({ name }) => name));
  const byLabels = optionalValue(query, 'aggregateBy') === 'labels';
  const volumes = new Map<string, Volume>();
  for (const { labels, files } of withinRange(streams.streams, range)) {
    const own = Object.keys(labels).filter((name) => named.size === 0 || named.has(name));
    const metrics = byLabels
      ? own.map((name) => ({ [name]: '' }))
      : [Object.fromEntries(own.map((name) => [name, labels[name] ?? '']))];
    for (const metric of metrics) {
      const volume = volumes.get(JSON.stringify(metric)) ?? { metric, bytes: 0 };
      volumes.set(JSON.stringify(metric), volume);
      volume.bytes += sizeOf(files);
    }
  }
  const largest = [...volumes.values()].sort((a, b) => b.bytes - a.bytes).slice(0, parseLimit(query));
  const nowSeconds = Math.floor(clock.nowMs / 1000);
  const result = largest.map(({ metric, bytes }) => ({ metric, value: [nowSeconds, String(bytes)] }));
  return success('vector', result, streams);
}

interface Volume {
  metric: LokiLabels;
  bytes: number;
}

function sizeOf(files: LokiStream['files']): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Groups of a digest, each counted once: how many of its records were when is not known. */
async function listPatterns(request: LokiRequest): Promise<object> {
  const { cluster, query } = request;
  const range = parseRange(request);
  const logs = parseSelector(requiredText(query, 'query'));
  const streams = await Streams.find(cluster, logs, call(request));
  const filter = {
    ...range,
    limit: Math.min(parseLimit(query), MAX_PATTERNS),
    ...(logs.query && { query: logs.query }),
  };
  const found: { pattern: string; level: string; samples: [number, number][] }[] = [];
  if (streams.selection) {
    const asked = { ...streams.selection, ...streams.requestedLogs() };
    const response = await cluster.logDigest({ ...asked, ...filter }, searchOptions(call(request)));
    streams.warn(response);
    for (const { level, source, shape, count, lastMs } of response.groups) {
      const pattern = `<_>${source ?? shape?.replaceAll('*', '<_>') ?? ''}<_>`;
      const seconds = Math.floor((lastMs ?? range.fromMs) / 1000);
      found.push({ pattern, level: level?.toLowerCase() ?? '', samples: [[seconds, count]] });
    }
  }
  const countOf = ({ samples: [[, count] = [0, 0]] }: (typeof found)[number]) => count;
  return successWith(found.sort((a, b) => countOf(b) - countOf(a)).slice(0, filter.limit), streams);
}

/** Loki's names for what values look like, where they are others. */
const FIELD_TYPES: Partial<Record<FieldType, string>> = {
  text: 'string',
  level: 'string',
  number: 'float',
  size: 'bytes',
};

const MAX_FIELDS = 1000;

async function detectedFields(request: LokiRequest): Promise<object> {
  const { cluster, query } = request;
  const logs = parseSelector(requiredText(query, 'query'));
  const streams = await Streams.find(cluster, logs, call(request));
  const limit = Math.min(parseLimit(query, MAX_FIELDS), MAX_FIELDS);
  const fields = new Map<string, { label: string; type: string; cardinality: number; parsers: string[] }>();
  if (streams.selection) {
    const asked = { ...streams.selection, ...streams.requestedLogs() };
    const filter = { ...parseRange(request), ...(logs.query && { query: logs.query }) };
    const response = await cluster.logFields({ ...asked, ...filter, limit }, searchOptions(call(request)));
    streams.warn(response);
    for (const { name, types, distinct } of response.fields) {
      const label = labelName(name);
      const known = fields.get(label);
      const [first = 'text'] = types;
      const type = FIELD_TYPES[first] ?? first;
      if (known) known.cardinality = Math.max(known.cardinality, distinct);
      else if (name !== 'message' && fields.size < limit)
        fields.set(label, { label, type, cardinality: distinct, parsers: ['json', 'logfmt'] });
    }
  }
  const warnings = streams.listWarnings();
  return { fields: [...fields.values()], limit, ...(warnings.length > 0 && { warnings }) };
}

/** The selection of requests that take it as an option. */
async function selectStreams(request: LokiRequest): Promise<Streams> {
  const selector: LogqlLogs = parseSelector(optionalValue(request.query, 'query') ?? '');
  return Streams.find(request.cluster, selector, call(request));
}

/** Streams with files of a time range; a file whose times are not known may have some. */
function withinRange(streams: readonly LokiStream[], { fromMs, toMs }: { fromMs: number; toMs: number }): LokiStream[] {
  return streams
    .map((stream) => ({
      ...stream,
      files: stream.files.filter(
        ({ firstTimeMs, lastTimeMs }) => (firstTimeMs ?? -Infinity) < toMs && (lastTimeMs ?? Infinity) >= fromMs,
      ),
    }))
    .filter(({ files }) => files.length > 0);
}

function call({ signal, client, deadlineMs }: LokiRequest): QueryCall {
  return { ...(signal && { signal }), client, deadlineMs };
}

function success(resultType: string, result: readonly object[], streams?: Streams): object {
  return successWith({ resultType, result, stats: {} }, streams);
}

function successWith(data: object, streams?: Streams): object {
  const warnings = streams?.listWarnings() ?? [];
  return { status: 'success', ...(warnings.length > 0 && { warnings }), data };
}

function parseLogRange(request: LokiRequest): LogRange {
  const direction = optionalValue(request.query, 'direction')?.toLowerCase() ?? 'backward';
  if (direction !== 'backward' && direction !== 'forward') throw invalid('"direction" must be forward or backward');
  const order = direction === 'backward' ? 'newest' : 'oldest';
  return { ...parseRange(request), limit: parseLimit(request.query), order };
}

function parseRange({ query, clock }: LokiRequest): { fromMs: number; toMs: number } {
  const toMs = parseTime(query, 'end') ?? clock.nowMs;
  const since = optionalValue(query, 'since');
  const sinceMs = since === undefined ? HOUR_MS : parseDuration(since);
  const fromMs = parseTime(query, 'start') ?? Math.min(toMs, clock.nowMs) - sinceMs;
  if (fromMs > toMs) throw invalid('"end" is before "start"');
  return { fromMs, toMs };
}

function parseTimes(request: LokiRequest): EvaluationTimes {
  const { fromMs: startMs, toMs: endMs } = parseRange(request);
  const given = optionalValue(request.query, 'step');
  if (given === undefined) {
    const seconds = Math.max(1, Math.floor((endMs - startMs) / 1000 / DEFAULT_POINTS));
    return { startMs, endMs, stepMs: seconds * 1000 };
  }
  const stepMs = /^\d+(\.\d+)?$/.test(given) ? Math.round(Number(given) * 1000) : parseDuration(given);
  if (stepMs < 1) throw invalid('"step" must be at least 1 ms');
  return { startMs, endMs, stepMs };
}

export function parseLimit(query: Query, otherwise = DEFAULT_LIMIT): number {
  const given = optionalValue(query, 'limit');
  if (given === undefined || given === '0') return otherwise;
  if (!/^\d{1,9}$/.test(given)) throw invalid('"limit" must be a whole number');
  return Number(given);
}

const NANOSECONDS_PER_MS = 1_000_000n;

/**
 * Epoch ms of a time as Loki takes it: nanoseconds, seconds (ten digits or fewer, or with a fraction) or RFC 3339.
 * Rounded up: times of records are whole milliseconds, so that this is exact for both ends of a range.
 */
export function parseTime(query: Query, name: string): number | undefined {
  const text = optionalValue(query, name);
  if (text === undefined) return undefined;
  if (/^\d{11,19}$/.test(text)) return Number((BigInt(text) + NANOSECONDS_PER_MS - 1n) / NANOSECONDS_PER_MS);
  const timeMs = /^\d{1,10}(\.\d+)?$/.test(text) ? Math.ceil(Number(text) * 1000) : Date.parse(text);
  const isDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text) || /^\d/.test(text);
  if (Number.isNaN(timeMs) || !isDate)
    throw invalid(`"${name}" must be a time in nanoseconds or seconds since 1970, or like 2026-11-18T10:00:00Z`);
  return timeMs;
}

export function requiredText(query: Query, name: string): string {
  const text = optionalValue(query, name);
  if (text === undefined) throw invalid(`"${name}" is missing`);
  return text;
}

function invalid(message: string): PortholeError {
  return new PortholeError('PARAMETER_INVALID', message);
}
