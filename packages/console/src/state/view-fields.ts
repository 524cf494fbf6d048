import { type Level, PortholeError } from '@porthole/client';
import { durationText, FILTER_ROWS, isLabelName, parseSpan, timeText } from '@porthole/contract';
import { fieldNamesProblem, formatFieldNames, parseFieldNames } from './field-names.ts';
import { labelProblem, parseLabels } from './labels.ts';
import { formatChoice, parseChoice } from './source-text.ts';
import { canFollow, type TimeRange } from './time-range.ts';
import type { RecordKey, SourceChoice } from './view.ts';

/* What the pages show, and how it is written in their URLs: the one table of both. */

/** A part of a view. What is invalid in a URL is read as if it was absent; what is usual is not written. */
export interface Field<Value> {
  read(query: URLSearchParams): Value;
  write(query: URLSearchParams, value: Value): void;
  /** Its parameters and how their values are validated; `null`: any value is valid. */
  checks: ParameterChecks;
}

export type ParameterChecks = Readonly<Record<string, Check | null>>;

/** What is wrong with a value, or `null`. */
type Check = (value: string) => string | null;

/** The values of one parameter. */
interface Codec<Value> {
  read(values: readonly string[]): Value;
  write(value: Value): readonly string[];
  problem: Check | null;
}

function field<Value>(name: string, { read, write, problem }: Codec<Value>): Field<Value> {
  return {
    read: (query) => read(query.getAll(name)),
    write: (query, value) => {
      for (const text of write(value)) query.append(name, text);
    },
    checks: { [name]: problem },
  };
}

const TEXT: Codec<string> = { read: ([text = '']) => text, write: (text) => (text ? [text] : []), problem: null };

const NAME: Codec<string | null> = {
  read: ([name]) => name || null,
  write: (name) => (name ? [name] : []),
  problem: null,
};

const NAMES: Codec<readonly string[]> = {
  read: ([text = '']) => parseFieldNames(text),
  write: (names) => (names.length > 0 ? [formatFieldNames(names)] : []),
  problem: fieldNamesProblem,
};

const ONE: Codec<boolean> = {
  read: ([text]) => text === '1',
  write: (isOn) => (isOn ? ['1'] : []),
  problem: (text) => (text === '1' ? null : 'expected 1'),
};

function onOff(usual: boolean): Codec<boolean> {
  return {
    read: ([text]) => flag(text, usual),
    write: (isOn) => (isOn === usual ? [] : [isOn ? '1' : '0']),
    problem: (text) => (text === '0' || text === '1' ? null : 'expected 0 or 1'),
  };
}

function flag(text: string | undefined, usual: boolean): boolean {
  if (text === '1') return true;
  return text === '0' ? false : usual;
}

function choice<Value extends string>(...choices: readonly Value[]): Codec<Value | null> {
  return {
    read: ([text]) => choices.find((own) => own === text) ?? null,
    write: (chosen) => (chosen ? [chosen] : []),
    problem: (text) =>
      choices.some((own) => own === text) ? null : `expected ${choices.join(', ')}`.replace(/,([^,]*)$/, ' or$1'),
  };
}

type FilterRow = (typeof FILTER_ROWS)[number];

/** A filter of the API. Without a zone a time is UTC: a URL means the same everywhere. */
function filter<Value extends string | number>(name: FilterRow['field']): Codec<Value | null> {
  const codec = FILTER_ROWS.find((own) => own.field === name)?.codec as FilterRow['codec'];
  const parse = (text: string): { value?: unknown; problem?: string } => {
    try {
      return { value: codec.parse([text], name, { clock: { nowMs: Date.now(), offsetMsAt: () => 0 } }) };
    } catch (error) {
      if (!(error instanceof PortholeError)) throw error;
      // The name and the value are shown in front of it.
      return { problem: error.message.slice(error.message.lastIndexOf(': ') + 2) };
    }
  };
  return {
    // An error that is thrown while the page starts takes milliseconds: without a text, nothing is parsed.
    read: ([text]) => (text ? ((parse(text).value ?? null) as Value | null) : null),
    write: (value) => {
      if (value === null) return [];
      return typeof value === 'number' ? [timestampText(value)] : codec.encode(value as never);
    },
    problem: (text) => parse(text).problem ?? null,
  };
}

function timestampText(timeMs: number): string {
  const text = new Date(timeMs).toISOString();
  // Years of more than four digits are not part of the grammar.
  return text.length === 24 ? text : timeText(timeMs);
}

const FROM = filter<number>('fromMs');
const TO = filter<number>('toMs');

export const RANGE: Field<TimeRange | null> = {
  read(query) {
    const spanMs = parseSpan(query.get('last') ?? '');
    if (spanMs) return { kind: 'last', spanMs };
    const fromMs = FROM.read(query.getAll('from'));
    const toMs = TO.read(query.getAll('to'));
    // `from=` alone is a range that is open at both ends.
    if (fromMs === null && toMs === null && query.get('from') !== '') return null;
    return { kind: 'fixed', fromMs, toMs };
  },
  write(query, range) {
    if (range?.kind === 'last') query.set('last', durationText(range.spanMs));
    if (range?.kind !== 'fixed') return;
    if (range.fromMs !== null) query.set('from', timestampText(range.fromMs));
    else if (range.toMs === null) query.set('from', '');
    if (range.toMs !== null) query.set('to', timestampText(range.toMs));
  },
  checks: {
    last: (text) => (parseSpan(text) ? null : 'expected a span such as 15m or 2h'),
    from: FROM.problem,
    to: TO.problem,
  },
};

/** Only nodes with these labels: `zone=eu-*`; of each name one must match. */
const LABELS = field<readonly string[]>('label', {
  read: parseLabels,
  write: (labels) => labels,
  problem: labelProblem,
});

/** The name of the label by which nodes are grouped; also `role` and `none`. `null`: many nodes are grouped by role. */
const BY = field<string | null>('by', {
  read: ([name = '']) => (isLabelName(name) ? name : null),
  write: NAME.write,
  problem: (name) => (isLabelName(name) ? null : 'expected the name of a label like zone'),
});

const SEARCH = field('q', TEXT);

/** The text at start, or that of the service's files; otherwise the current configuration as TOML. */
const SHAPE = field('as', choice('start', 'source'));

/** Parameters that only a comparison has. */
const COMPARE_NAMES = ['role', 'label', 'by', 'in', 'left', 'right', 'expected'];

const TABS = choice('history', 'compare', 'text');

/** The versions of a node, where nodes differ, or the text of a node. */
const CONFIG_TAB: Field<'history' | 'compare' | 'text'> = {
  read: (query) => TABS.read(query.getAll('tab')) ?? usualTab(query),
  write(query, tab) {
    if (tab !== usualTab(query)) query.set('tab', tab);
  },
  checks: { tab: TABS.problem },
};

/** The part of the page that the other parameters are about. */
function usualTab(query: URLSearchParams): 'history' | 'compare' | 'text' {
  if (COMPARE_NAMES.some((name) => query.has(name))) return 'compare';
  return query.has('as') ? 'text' : 'history';
}

/** Empty: all logs of all nodes. */
const SOURCES: Codec<readonly SourceChoice[]> = {
  read: (texts) => texts.flatMap((text) => parseChoice(text) ?? []),
  write: (sources) => sources.map(formatChoice),
  problem: (text) => (parseChoice(text) ? null : 'expected NODE, NODE/FAMILY or NODE/=FILE'),
};

const TERM = filter<string>('excluded');

const EXCLUDED: Codec<readonly string[]> = {
  read: (texts) => texts.flatMap((text) => TERM.read([text]) ?? []),
  write: (texts) => texts,
  problem: TERM.problem,
};

/** Ids of nodes contain no slash. */
const RECORD: Codec<RecordKey | null> = {
  read: ([text = '']) => {
    const [, node, cursor] = /^([^/]+)\/(.+)$/s.exec(text) ?? [];
    return node && cursor ? { node, cursor } : null;
  },
  write: (at) => (at ? [`${at.node}/${at.cursor}`] : []),
  problem: (text) => (RECORD.read([text]) ? null : 'this link is damaged'),
};

const TIME = field('t', FROM);
const AT = field('at', RECORD);

/** Written after the parts that decide what is usual: a link to a record or a time is for reading; any other follows. */
const LIVE: Field<boolean> = {
  read: (query) => canFollow(RANGE.read(query)) && flag(query.get('live') ?? undefined, isUsuallyLive(query)),
  write(query, isLive) {
    if (isLive !== isUsuallyLive(query)) query.set('live', isLive ? '1' : '0');
  },
  checks: { live: onOff(true).problem },
};

function isUsuallyLive(query: URLSearchParams): boolean {
  return AT.read(query) === null && TIME.read(query) === null && RANGE.read(query)?.kind !== 'fixed';
}

/** The pages by their fields, in the order in which these are written. A range of `null` is the last hour but for logs. */
export const PAGES = {
  overview: { labels: LABELS, by: BY, range: RANGE },
  incidents: { labels: LABELS, range: RANGE },
  /** `text`: only nodes whose name, role or labels contain these words. */
  nodes: { labels: LABELS, by: BY, text: SEARCH, range: RANGE },
  /** The page of a node; only its configuration has a shape. */
  node: { text: SEARCH, shape: SHAPE, range: RANGE },
  config: {
    labels: LABELS,
    /** The name of a label: only nodes with the same value are compared with each other. */
    by: BY,
    /** With `by`: the label of the nodes shown, like `zone=eu-1`; empty: those without it. */
    group: field<string | null>('in', {
      read: ([group = null]) => group,
      write: (group) => (group === null ? [] : [group]),
      problem: null,
    }),
    role: field('role', NAME),
    /** Two nodes side by side. */
    left: field('left', NAME),
    right: field('right', NAME),
    text: SEARCH,
    showExpected: field('expected', ONE),
    shape: SHAPE,
    tab: CONFIG_TAB,
    /** The node whose versions or text are shown; `null`: the one that changed last. */
    node: field('node', NAME),
    /** The version that the node had at this time; `null`: the current one. */
    atMs: field('t', FROM),
    /** Both versions beside each other instead of one text. */
    isSplit: field('split', ONE),
  },
  logs: {
    sources: field('src', SOURCES),
    labels: LABELS,
    range: RANGE,
    minLevel: field('level', filter<Level>('minLevel')),
    /** Only records that match this query; empty: all. Kept as written: the query box shows what is wrong with it. */
    query: field('query', TEXT),
    text: SEARCH,
    excluded: field('not', EXCLUDED),
    /** Only records of this call site: `file:line` or `file`. */
    callSite: field('site', filter<string>('source')),
    component: field('tag', filter<string>('component')),
    /** Fields shown as columns, in this order. */
    columns: field('columns', NAMES),
    /** Fields whose values are counted in the field list. */
    countedBy: field('by', NAMES),
    /** The field whose values the bars of the chart are split by; `null`: levels. */
    splitBy: field<string | null>('split', {
      read: (texts) => NAMES.read(texts)[0] ?? null,
      write: (name) => (name === null ? [] : [formatFieldNames([name])]),
      problem: NAMES.problem,
    }),
    isRegex: field('re', onOff(false)),
    isCaseSensitive: field('case', onOff(false)),
    /** Only matching records; otherwise matches are highlighted. */
    isOnlyMatches: field('only', onOff(false)),
    isWrapped: field('wrap', onOff(false)),
    isPlain: field('plain', onOff(false)),
    hasHistogram: field('chart', onOff(true)),
    hasFields: field('fields', onOff(true)),
    timeMs: TIME,
    at: AT,
    isLive: LIVE,
  },
} as const satisfies Record<string, Fields>;

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** The values of fields, by their names. */
export type ValuesOf<Own extends Fields> = { -readonly [Name in keyof Own]: ReturnType<Own[Name]['read']> };

/** Never throws. */
export function readFields<Own extends Fields>(fields: Own, query: URLSearchParams): ValuesOf<Own> {
  const values = Object.entries(fields).map(([name, { read }]) => [name, read(query)]);
  return Object.fromEntries(values) as ValuesOf<Own>;
}

export function writeFields<Own extends Fields>(fields: Own, values: ValuesOf<Own>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, { write }] of Object.entries(fields)) write(query, values[name]);
  return query;
}
