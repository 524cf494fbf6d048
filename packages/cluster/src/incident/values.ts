import type { ClusterRecord, ClusterTop, SharedValue, Standout } from '@porthole/contract';
import type { FieldJson } from '@porthole/logs/types';
import { ComparedNodes } from './compared-nodes.ts';
import type { IncidentRequests } from './incident-requests.ts';
import { compareCounts, countPaths, type Pattern, rateText, unusualness, type Window } from './patterns.ts';
import { likelihoodRatio } from './unusual-stretch.ts';

/** Fields whose values are compared, by three requests each; with those that turn out to be constant; values of each. */
const MAX_FIELDS = 6;
const MAX_TRIED = 10;
const MAX_VALUES = 3;

/** A value that most records have says nothing. */
const CONSTANT_SHARE = 0.95;

/** With fewer errors before, it is not known which values are usual; and how much more of them have an unusual one. */
const MIN_PAST = 20;
const SHARE_GROWTH = 1.1;

/** Fields of every record, which patterns and levels are made of already. */
const BUILT_IN: ReadonlySet<string> = new Set(['level', 'source', 'message', 'component', 'time', 'timestamp', 'ts']);

/** Values that are named of one standout. */
const MAX_SHARED = 3;

const VALUE_WEIGHT = 85;
/** A value that only records of one pattern have is a part of that pattern. */
const ONE_PATTERN = 0.6;

/** The values that at least this share of the records have. */
export function commonValues(records: readonly ClusterRecord[], share: number): SharedValue[] {
  const counts = new Map<string, SharedValue>();
  for (const { fields = {} } of records)
    for (const [field, given] of Object.entries(fields))
      for (const value of new Set(valueTexts(given))) {
        if (BUILT_IN.has(field)) continue;
        const key = JSON.stringify([field, value]);
        const known = counts.get(key) ?? { field, value, count: 0, of: records.length };
        known.count++;
        counts.set(key, known);
      }
  return [...counts.values()].filter(({ count }) => count >= share * records.length);
}

function valueTexts(value: FieldJson): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one) => one !== null).map(String);
}

/** What most records of a pattern have in common: first what stands out by itself. */
export function tellingValues({ first, counts }: Pattern, { values, usual }: FoundValues): SharedValue[] {
  const rank = ({ field, value }: SharedValue) =>
    Math.max(
      0,
      ...values
        .filter(({ shares }) => shares.some((one) => one.field === field && one.value === value))
        .map(({ score }) => score),
    );
  if (first.length < 2) return [];
  // Of a pattern that is not new, usual records are among the first.
  return commonValues(first, counts.before > 0 ? 0.6 : 0.8)
    .filter(({ field }) => !usual.has(field))
    .sort((a, b) => rank(b) - rank(a) || b.count - a.count)
    .slice(0, MAX_SHARED);
}

/** Values that the first records of several patterns have in common. */
export function sharedValues(patterns: readonly Pattern[], usual: FoundValues['usual']): Map<Pattern, SharedValue[]> {
  const common = new Map(
    patterns.map(
      (pattern) => [pattern, commonValues(pattern.first, 0.8).filter(({ field }) => !usual.has(field))] as const,
    ),
  );
  const isShared = ({ field, value }: SharedValue) =>
    [...common.values()].filter((values) => values.some((one) => one.field === field && one.value === value)).length >
    1;
  return new Map([...common].map(([pattern, values]) => [pattern, values.filter(isShared).slice(0, MAX_SHARED)]));
}

export interface FoundValues {
  values: Standout[];
  /** Fields whose values were compared, and do not stand out: that records share them says nothing. */
  usual: ReadonlySet<string>;
}

/** Values of fields that stand out among errors, and among warnings if some of these are unusual. */
export async function findValues(
  requests: IncidentRequests,
  window: Window,
  patterns: readonly Pattern[],
): Promise<FoundValues> {
  const level = patterns.some((pattern) => pattern.level === 'WARN') ? 'WARN' : 'ERROR';
  const before = { fromMs: window.beforeFromMs, toMs: window.fromMs };
  const found: Standout[] = [];
  const usual = new Set<string>();
  let compared = 0;
  for (const field of commonFields(patterns).slice(0, MAX_TRIED)) {
    if (compared === MAX_FIELDS || !requests.mayAsk('values of fields')) break;
    const errors = await requests.top(window, field, { minLevel: level });
    const values = errors.values.slice(0, MAX_VALUES).map(({ value }) => value);
    const records = await requests.top(window, field, { values });
    if (isConstant(values[0], errors, records)) continue;
    compared++;
    const past = await requests.top(before, field, { minLevel: level, values });
    const own = standingOut({ field, level, errors, past, records, patterns, window });
    if (own.length === 0) usual.add(field);
    found.push(...own);
  }
  return { values: withoutTwins(found), usual };
}

/** Fields of which one value is in many records of an unusual pattern. */
function commonFields(patterns: readonly Pattern[]): string[] {
  const weights = new Map<string, number>();
  for (const { first, counts } of patterns)
    for (const { field, count, of } of commonValues(first, 0.3))
      if (of > 1) weights.set(field, (weights.get(field) ?? 0) + (count / of) * Math.log1p(counts.during));
  return [...weights].sort(([, a], [, b]) => b - a).map(([field]) => field);
}

interface ErrorValues {
  field: string;
  level: 'ERROR' | 'WARN';
  errors: ClusterTop;
  past: ClusterTop;
  records: ClusterTop;
  patterns: readonly Pattern[];
  window: Window;
}

/** Values that errors have more often than other records, or that several patterns share. */
function standingOut({ field, level, errors, past, records, patterns, window }: ErrorValues): Standout[] {
  const total = countAll(errors);
  const totalRecords = countAll(records);
  const compared = new ComparedNodes([errors, past]);
  return errors.values.slice(0, MAX_VALUES).flatMap(({ value, count, nodes }) => {
    const inAll = countOf(records, value);
    const having = patterns.filter(({ first }) =>
      commonValues(first, 0.8).some((common) => common.field === field && common.value === value),
    );
    if (count < 2 || isUsual(count / total, value, past)) return [];
    // Errors by record of this value, against those by record of the others.
    const lift = likelihoodRatio({ count, ms: inAll }, { count: total - count, ms: totalRecords - inAll });
    if (having.length < 2 && lift < 10.8) return [];
    const counts = compareCounts(compared.countsOf(nodes), countOf(past, value, compared), window);
    const isOfMany = having.length > 1 || Object.keys(nodes).length > 1;
    const strength =
      unusualness(counts) * (count / total) * (0.6 + 0.4 * Math.min(1, Math.log10(1 + Math.max(0, lift)) / 2));
    const share = totalRecords > total ? `, ${percent(inAll, totalRecords)} of all records` : '';
    return {
      kind: 'value' as const,
      score: VALUE_WEIGHT * strength * (isOfMany ? 1 : ONE_PATTERN),
      title: `${field}=${value} in ${count === total ? 'all' : percent(count, total)} of the ${level === 'WARN' ? 'warnings and errors' : 'errors'} with ${field}`,
      detail: `${rateText(counts)}${share}`,
      nodes: Object.keys(nodes),
      ...{ timeMs: null, event: null, keys: [], pattern: null, record: null },
      ...{ field, value, counts, shares: [{ field, value, count, of: total }] },
      paths: countPaths({ minLevel: level, query: { kind: 'field', field, operator: '=', value } }, window),
    };
  });
}

/** Values of the same records are one standout. */
function withoutTwins(found: readonly Standout[]): Standout[] {
  const kept: Standout[] = [];
  for (const one of [...found].sort((a, b) => b.score - a.score)) {
    const twin = kept.find(
      ({ counts }) => counts && one.counts && Math.abs(counts.during - one.counts.during) <= 0.05 * counts.during,
    );
    if (!twin) kept.push({ ...one });
    else if (twin.shares.length < MAX_SHARED && twin.shares.every(({ field }) => field !== one.field))
      twin.shares.push(...one.shares);
  }
  return kept;
}

/** Whether as many of the errors before had it: there are more of these because there are more errors. */
function isUsual(share: number, value: string, past: ClusterTop): boolean {
  const total = countAll(past);
  return total >= MIN_PAST && share < SHARE_GROWTH * (countOf(past, value) / total);
}

/** A value that nearly all records have, whether they are errors or not: the version, the name of the service. */
function isConstant(value: string | undefined, errors: ClusterTop, records: ClusterTop): boolean {
  const total = countAll(records);
  return value === undefined || (total > countAll(errors) && countOf(records, value) > CONSTANT_SHARE * total);
}

function countAll({ values, others }: ClusterTop): number {
  return values.reduce((sum, { count }) => sum + count, others);
}

/** Records with a value: of all nodes, or of those that are compared. */
function countOf({ values }: ClusterTop, value: string, compared?: ComparedNodes): number {
  const found = values.find((one) => one.value === value);
  if (!found || !compared) return found?.count ?? 0;
  return Object.values(compared.countsOf(found.nodes)).reduce((sum, count) => sum + count, 0);
}

function percent(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.round((100 * part) / whole)} %`;
}
