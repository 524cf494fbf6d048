import {
  type ClusterDigest,
  type ClusterRecord,
  encodeCount,
  PATHS,
  type SharedValue,
  type Standout,
  type StandoutCounts,
  shapeTexts,
} from '@porthole/contract';
import { mergeGroups } from '@porthole/logs';
import type { DigestGroup, Level, RecordFilter } from '@porthole/logs/types';
import { ComparedNodes } from './compared-nodes.ts';
import { likelihoodRatio } from './unusual-stretch.ts';

/** What is compared: the incident, and the time before it. */
export interface Window {
  fromMs: number;
  toMs: number;
  beforeFromMs: number;
  /** Nodes that logged something in either. */
  nodeCount: number;
}

/** Records of one kind, counted in the incident and before it. */
export interface Pattern extends Pick<DigestGroup, 'level' | 'source' | 'shape'> {
  /** `file:line`, or what the messages have in common. */
  name: string;
  sample: ClusterRecord;
  nodes: Readonly<Record<string, number>>;
  counts: StandoutCounts;
  /** Its first records in the incident, oldest first, as far as they were asked for. */
  first: ClusterRecord[];
  firstMs: number | null;
  /** Whether there is no older record at all; `undefined` if that is not known. */
  isNeverSeen?: boolean;
}

/** Ids have no such character. */
const BEFORE = '<';

/**
 * Patterns of which there are more than before, largest first, of the nodes that have counted both times. Shapes are merged
 * over both times, so that they are comparable.
 */
export function comparePatterns(during: ClusterDigest, before: ClusterDigest, window: Window): Pattern[] {
  const compared = new ComparedNodes([during, before]);
  const past = before.groups.map((group) => ({
    ...group,
    firstMs: null,
    lastMs: null,
    nodes: Object.fromEntries(
      Object.entries(compared.countsOf(group.nodes)).map(([id, count]) => [BEFORE + id, count]),
    ),
  }));
  const present = during.groups.map((group) => ({ ...group, nodes: compared.countsOf(group.nodes) }));
  const { groups } = mergeGroups(
    [
      { ...during, groups: present },
      { ...before, groups: past },
    ],
    { limit: Infinity },
  );
  return groups.flatMap((group) => {
    const counts = Object.entries(group.nodes);
    const nodes = Object.fromEntries(counts.filter(([id]) => !id.startsWith(BEFORE)));
    const earlier = counts.filter(([id]) => id.startsWith(BEFORE)).reduce((sum, [, count]) => sum + count, 0);
    const { level, source, shape, sample, firstMs } = group;
    const totals = compareCounts(nodes, earlier, window);
    if (totals.during === 0) return [];
    const name = source ?? shape ?? '';
    return [{ level, source, shape, name, sample, nodes, counts: totals, first: [], firstMs }];
  });
}

/** The numbers behind a standout: against the time before, and of the node with the most against the others. */
export function compareCounts(nodes: Readonly<Record<string, number>>, before: number, window: Window): StandoutCounts {
  const duringMs = window.toMs - window.fromMs;
  const beforeMs = window.fromMs - window.beforeFromMs;
  const each = Object.values(nodes);
  const during = each.reduce((sum, count) => sum + count, 0);
  const most = Math.max(0, ...each);
  const others = during - most;
  const otherNodes = window.nodeCount - 1;
  const ratioBefore = likelihoodRatio({ count: during, ms: duringMs }, { count: before, ms: beforeMs });
  // As if the others were one node that was there for longer.
  const ratioOthers =
    otherNodes < 1 ? 0 : likelihoodRatio({ count: most, ms: duringMs }, { count: others, ms: duringMs * otherNodes });
  return {
    during,
    duringMs,
    before,
    beforeMs,
    most,
    others,
    ratioBefore: round(ratioBefore),
    // A node with the most has at least its share; less by chance is none.
    ratioOthers: Math.max(0, round(ratioOthers)),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** G² at which size no longer matters: tens of thousands of records are not more of a sign than hundreds. */
const FULL_SIZE = 3.5;

/** From 0 to 1: how unusual counts are, by size and growth. */
export function unusualness({ during, duringMs, before, beforeMs, ratioBefore }: StandoutCounts): number {
  if (ratioBefore <= 0 || during === 0) return 0;
  const growth = 1 - before / beforeMs / (during / duringMs);
  return growth * Math.min(1, Math.log10(1 + ratioBefore) / FULL_SIZE);
}

/** A program logs few fatal errors, and each of them matters. */
const LEVEL_WEIGHTS: Readonly<Partial<Record<Level, number>>> = { FATAL: 2, ERROR: 1, WARN: 0.8 };

/** Records of other levels, and of none. */
const OTHER_WEIGHT = 0.45;

/** A change before it counts more. */
const MOST = 90;

/** Patterns that began later count less: halved after 5 minutes. */
const LATE_MS = 5 * 60_000;

export function patternScore({ level, counts, firstMs }: Pattern, onsetMs: number | null): number {
  const weight = level === null ? OTHER_WEIGHT : (LEVEL_WEIGHTS[level] ?? OTHER_WEIGHT);
  const lateMs = onsetMs === null || firstMs === null ? 0 : Math.max(0, firstMs - onsetMs);
  return (MOST * Math.min(1, weight * unusualness(counts))) / (1 + lateMs / LATE_MS);
}

export function isError({ level }: Pick<Pattern, 'level'>): boolean {
  return level === 'ERROR' || level === 'FATAL';
}

/** Whether there was none in the time before. */
export function isFresh({ counts }: Pick<Pattern, 'counts'>): boolean {
  return counts.before === 0;
}

type PatternFacts = Pick<Pattern, 'level' | 'source' | 'shape' | 'sample'>;

/** Which records are of the pattern: for one without a source location, those with the longest parts of its shape. */
export function patternFilter({ level, source, shape, sample }: PatternFacts): RecordFilter {
  const ofLevel: RecordFilter =
    level === null ? {} : { query: { kind: 'field', field: 'level', operator: '=', value: level } };
  if (source !== null) return { ...ofLevel, source };
  const terms = shapeTexts(shape ?? '', sample.message);
  return { ...ofLevel, ...(terms.length > 0 && { terms }) };
}

/** The requests that show the counts of a filter in the incident and before it. */
export function countPaths(filter: RecordFilter, { fromMs, toMs, beforeFromMs }: Window): string[] {
  const path = (range: { fromMs: number; toMs: number }) =>
    `${PATHS.logDigest}?${encodeCount('logDigest', { nodes: ['*'], ...filter, ...range })}`;
  return [path({ fromMs, toMs }), path({ fromMs: beforeFromMs, toMs: fromMs })];
}

/** `0 → 240 a minute`. */
export function rateText({ during, duringMs, before, beforeMs }: StandoutCounts): string {
  return `${perMinute(before, beforeMs)} → ${perMinute(during, duringMs)} a minute`;
}

export function perMinute(count: number, ms: number): string {
  const rate = count / (Math.max(1000, ms) / 60_000);
  const digits = rate >= 10 ? 0 : rate >= 1 || rate === 0 ? 1 : 2;
  return countText(Number(rate.toFixed(digits)));
}

/** `1,204`. Not by `Intl`, whose first use takes 50 ms. */
export function countText(count: number): string {
  const [whole = '', part] = String(count).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return part === undefined ? grouped : `${grouped}.${part}`;
}

/** `storage-3`, `storage-3 and broker-1`, `5 nodes`. */
export function nodesText(nodes: readonly string[]): string {
  if (nodes.length <= 2) return nodes.join(' and ');
  return `${nodes.length} nodes`;
}

/** The nodes that have records of a pattern: of a new one the first ones first, of others those with the most. */
export function patternNodes({ nodes, first, counts }: Pattern): string[] {
  const early = counts.before > 0 ? [] : [...new Set(first.map(({ node }) => node))].filter((node) => node in nodes);
  const rest = Object.entries(nodes).filter(([node, count]) => count > 0 && !early.includes(node));
  return [...early, ...rest.sort(([, a], [, b]) => b - a).map(([node]) => node)];
}

/** `wal.go:211`, or what the messages have in common: `… "GET …" … storage … does not respond`. */
export function patternText({ source, shape }: Pick<Pattern, 'source' | 'shape'>): string {
  return source ?? ((shape ?? '').replace(/\*(?: \*)+/g, '*').replaceAll('*', '…') || '(no message)');
}

export function toPatternStandout(
  pattern: Pattern,
  { window, onsetMs, shares }: { window: Window; onsetMs: number | null; shares: SharedValue[] },
): Standout {
  const { name, level, counts, firstMs, isNeverSeen } = pattern;
  const nodes = Object.entries(pattern.nodes)
    .sort(([, a], [, b]) => b - a)
    .map(([node]) => node);
  const { ratioOthers, most, during } = counts;
  const isNew = isFresh(pattern);
  const where = ratioOthers > 10.8 && most > during * 0.8 ? nodes.slice(0, 1) : nodes;
  const past = !isNew ? '' : isNeverSeen === true ? ', never before' : ', none in the time before';
  return {
    kind: 'pattern',
    score: patternScore(pattern, onsetMs),
    title: `${patternText(pattern)} ${isNew ? 'new' : 'more often'} on ${nodesText(where)}`,
    detail: `${level ?? 'no level'}: ${rateText(counts)}${past}`,
    nodes,
    timeMs: firstMs,
    event: null,
    keys: [],
    pattern: name,
    field: null,
    value: null,
    shares,
    record: shortRecord(pattern.first[0] ?? pattern.sample),
    counts,
    paths: countPaths(patternFilter(pattern), window),
  };
}

/** A longer message is cut: its record is one request away. */
const MAX_MESSAGE = 500;

/** The record without its fields, which are in `shares`. */
export function shortRecord({ fields: _fields, message, ...record }: ClusterRecord): ClusterRecord {
  return { ...record, message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message };
}
