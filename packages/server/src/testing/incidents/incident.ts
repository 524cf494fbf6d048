import type { EventKind, SettingJson } from '@porthole/contract';

/** A configuration that a node has had, as its history keeps it. */
export interface GeneratedConfig {
  /** TOML. */
  config: string;
  settings: { key: string; value: SettingJson }[];
}

/** What a node has on disk. */
export interface GeneratedNode {
  id: string;
  /** Text of the log files, by name. */
  logs: Readonly<Record<string, string>>;
  /** Text of `events.log`; its lines are in the order they were written. */
  events: string;
  configs: readonly GeneratedConfig[];
  /** Whether it does not respond at the end: what it has is then a copy. */
  isDown: boolean;
}

/** An hour of a cluster, with what was before it and what is wrong in it. */
export interface Incident {
  name: string;
  seed: number;
  /** The hour that is asked about. */
  fromMs: number;
  toMs: number;
  nodes: readonly GeneratedNode[];
  truth: Truth;
}

export interface Truth {
  /** `false`: a report that finds something is wrong. */
  isIncident: boolean;
  /** Each of them names the cause, or what a reader would be led to it by if nothing in the data says more. */
  causes: readonly Cause[];
  /** What looks like a cause and is none. */
  decoys?: readonly Cause[];
  /** From the cause to the last trace of it. */
  startMs?: number;
  endMs?: number;
  /** Where it began; several if it began everywhere. */
  firstNodes?: readonly string[];
}

export type Cause =
  /** An event that was written, or what a report derives from logs and would be one, like `log-silent`. */
  | { event: EventKind; nodes?: readonly string[]; key?: string }
  /** A text that the messages of the pattern contain. */
  | { pattern: string; nodes?: readonly string[] }
  | { field: string; value: string };

/** An item of what stands out in a report. It may say several things at once, which then all have its rank. */
export interface ReportItem {
  /** Whom it is about, the most affected first: of a lost member, the member and not who has seen it. */
  nodes: readonly string[];
  event?: { kind: EventKind; keys?: readonly string[] };
  /** The shape of the messages, and a message. */
  pattern?: string;
  /** Values that the records share: at most three, or it says nothing. */
  fields?: readonly { name: string; value: string }[];
}

/** What a report says, in a form that any report can be put into. */
export interface ReportView {
  /** It says that nothing is unusual. */
  isQuiet: boolean;
  /** Most unusual first. */
  items: readonly ReportItem[];
  /** Where and when it says that it began. */
  firstNode?: string;
  startMs?: number;
}

export interface Verdict {
  isRight: boolean;
  /** Position of the first item that names the cause, from 1; `undefined`: none does. */
  rank: number | undefined;
  /** Not a condition: something that is no cause comes before it. */
  isMisled: boolean;
  /** Not a condition; `undefined` if the report or the truth does not say it. */
  isFirstNodeRight: boolean | undefined;
  startErrorMs: number | undefined;
  detail: string;
}

/** The cause has to be among this many items. */
const MAX_RANK = 3;

const MAX_FIELDS = 3;

export function judgeIncident(report: ReportView, truth: Truth): Verdict {
  const { isIncident, causes, decoys = [], firstNodes, startMs } = truth;
  const { firstNode } = report;
  const index = report.items.findIndex((item) => causes.some((cause) => names(item, cause)));
  const decoyIndex = report.items.findIndex((item) => decoys.some((decoy) => names(item, decoy)));
  const rank = index < 0 ? undefined : index + 1;
  const isRight = isIncident ? !report.isQuiet && rank !== undefined && rank <= MAX_RANK : report.isQuiet;
  const isTimed = isIncident && report.startMs !== undefined && startMs !== undefined;
  return {
    isRight,
    rank,
    isMisled: decoyIndex >= 0 && (index < 0 || decoyIndex < index),
    isFirstNodeRight: isIncident && firstNode !== undefined ? firstNodes?.includes(firstNode) : undefined,
    startErrorMs: isTimed ? (report.startMs ?? 0) - startMs : undefined,
    detail: isRight ? 'right' : describeMistake(report, truth, rank),
  };
}

function names(item: ReportItem, cause: Cause): boolean {
  if ('field' in cause)
    return (item.fields ?? [])
      .slice(0, MAX_FIELDS)
      .some(({ name, value }) => isSameName(name, cause.field) && value === cause.value);
  const [first] = item.nodes;
  if (cause.nodes && (first === undefined || !cause.nodes.includes(first))) return false;
  if ('pattern' in cause) return normalized(item.pattern ?? '').includes(normalized(cause.pattern));
  if (item.event?.kind !== cause.event) return false;
  return cause.key === undefined || (item.event.keys ?? []).includes(cause.key);
}

/** Fields of nested objects may be named by their path. */
function isSameName(name: string, expected: string): boolean {
  return name === expected || name.endsWith(`.${expected}`);
}

function normalized(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, ' ');
}

function describeMistake({ isQuiet, items }: ReportView, { isIncident, causes }: Truth, rank?: number): string {
  const said = items.slice(0, MAX_RANK).map((item) => JSON.stringify(item).slice(0, 300));
  if (!isIncident) return `reports an incident in a quiet hour: ${said.join(' ')}`;
  if (isQuiet) return `reports nothing; the cause is ${JSON.stringify(causes)}`;
  const where = rank === undefined ? 'not named' : `only at rank ${rank}`;
  return `the cause ${JSON.stringify(causes)} is ${where}; instead: ${said.join(' ')}`;
}
