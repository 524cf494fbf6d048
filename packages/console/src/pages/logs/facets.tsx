import type { ClusterDigest, FieldSummary, Level } from '@porthole/client';
import { absenceText, isDistinctMinimum, isPattern, matchesPattern, patternQuery } from '@porthole/contract';
import type { QueryNode } from '@porthole/logs/query';
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { oneLine, visibleText } from '../../log-view/rows/record-text.ts';
import {
  type FieldsResult,
  type HistogramResult,
  isPartialCount,
  type LogSource,
  levelSums,
  type TopResult,
} from '../../log-view/source/log-source.ts';
import { toRecordFilter } from '../../log-view/source/time-source.ts';
import { toFilter } from '../../log-view/source/view-source.ts';
import { offeredLabels } from '../../state/labels.ts';
import { preferences } from '../../state/preferences.ts';
import { excludedValues, termState, withoutTerm } from '../../state/query-view.ts';
import { cluster } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { logSource } from '../../state/source-text.ts';
import type { LogsView, SourceChoice, ZoneName } from '../../state/view.ts';
import { toggleName } from '../../state/view-url.ts';
import { IconButton, LinkButton, NodeDot, TextInput } from '../../ui/controls.tsx';
import { formatBytes, formatCount, formatCounted, formatSecond, formatShortTime } from '../../ui/format.ts';
import { useRequest, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loading } from '../../ui/notes.tsx';
import { patternParts } from '../../ui/pattern-text.ts';
import { fileFamilies } from '../nodes/file-families.ts';
import {
  ActionButtons,
  addToQuery,
  CountFailure,
  fieldActions,
  missingActions,
  valueActions,
} from './field-actions.tsx';
import type { ChangeView } from './typed-query.ts';
import { countKey, rowsAwaited } from './use-log-workspace.ts';

/** Rows come first, and what changes quickly is not counted in between. */
const PAUSE_MS = 400;

/** More are not read. */
const MAX_FIELDS = 200;

/** Enough for a sample. */
const FIELDS_MS = 3000;

/** Shown in facets of their own. */
const OWN_FACETS = new Set(['level', 'source', 'component', 'message']);

interface FacetsProps {
  view: LogsView;
  source: LogSource;
  histogram: HistogramResult | null;
  zone: ZoneName;
  change: ChangeView;
}

/** What the selected records have in common, with counts: a click includes, another one excludes. */
export function Facets({ view, source, histogram, zone, change }: FacetsProps) {
  const [typed, setTyped] = useState('');
  const pinned = useStore(preferences.pinned);
  const { value, atMs, failure, isLoading, retry } = useRequest(
    countKey(view),
    PAUSE_MS,
    (signal) =>
      source.fields({ filter: toFilter(view, Date.now()), limit: MAX_FIELDS }, { signal, budgetMs: FIELDS_MS }),
    rowsAwaited,
  );
  const fields = listedFields(value, [...pinned, ...view.countedBy]);
  const shown = filterFields(
    fields.filter(({ name }) => !pinned.includes(name)),
    typed,
  );
  const hasComponent = value?.fields.some(({ name }) => name === 'component') ?? true;
  return (
    <>
      <LevelFacet histogram={histogram} minLevel={view.minLevel} onChange={(minLevel) => change({ minLevel })} />
      <NodeFacet {...{ view, source, histogram, change }} />
      <LabelFacet {...{ view, change }} />
      <Facet name="Pattern">
        <PatternValues {...{ view, change }} />
      </Facet>
      {hasComponent ? (
        <Facet name="Component">
          <FieldValues by="component" {...{ view, source, zone, change }} />
        </Facet>
      ) : null}
      {fields
        .filter(({ name }) => pinned.includes(name))
        .map((field) => (
          <FieldFacet key={field.name} isPinned {...{ field, view, source, zone, change }} />
        ))}
      <div class="col facet-fields">
        <h2>Fields</h2>
        <FilterField what="fields" value={typed} onInput={setTyped} />
      </div>
      <FieldsStatus {...{ value, atMs, zone, isLoading }} onRefresh={retry} />
      {failure && !isLoading ? <CountFailure what="Fields" failure={failure} onRetry={retry} /> : null}
      {shown.map((field) => (
        <FieldFacet key={field.name} {...{ field, view, source, zone, change }} />
      ))}
      {value && !isLoading ? <FieldsNote value={value} isFound={shown.length > 0} /> : null}
    </>
  );
}

function FilterField({ what, value, onInput }: { what: string; value: string; onInput: (text: string) => void }) {
  return (
    <TextInput
      type="search"
      aria-label={`Filter ${what} by name`}
      placeholder={`Filter ${what}`}
      value={value}
      onText={onInput}
    />
  );
}

interface FacetProps {
  name: ComponentChildren;
  /** Open by default, and then by the reader. */
  isOpen?: boolean | undefined;
  onToggle?: (() => void) | undefined;
  tip?: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}

function Facet({ name, isOpen: given, onToggle, tip, aside, children }: FacetProps) {
  const id = useId();
  const [own, setOwn] = useState(true);
  const isOpen = given ?? own;
  return (
    <section class="facet">
      <div class="flex facet-head">
        <button
          type="button"
          class="flex grow dim facet-name"
          aria-expanded={isOpen}
          aria-controls={id}
          data-tip={tip}
          onClick={onToggle ?? (() => setOwn(!own))}
        >
          <Icon name={isOpen ? 'open' : 'shut'} />
          {name}
        </button>
        {aside}
      </div>
      <div id={id}>{isOpen ? children : null}</div>
    </section>
  );
}

interface FacetValueProps {
  text: ComponentChildren;
  title?: string;
  /** `1,204`; `null` while it is not counted. */
  count: string | null;
  countTitle?: string | undefined;
  /** Of the largest, 0 to 1. */
  share: number;
  state: 'include' | 'exclude' | 'off' | null;
  /** Whether a box shows what is chosen: of levels and nodes. */
  hasBox?: boolean;
  tone?: string;
  label?: string;
  onClick?: (() => void) | undefined;
  children?: ComponentChildren;
  /** What it consists of. */
  below?: ComponentChildren;
}

/** One value: a click includes it, another one excludes it. */
function FacetValue(props: FacetValueProps) {
  const { text, title, count, countTitle, share, state, hasBox, tone = '', label, onClick } = props;
  return (
    <li>
      <div
        class={`flex facet-value ${tone} ${state === 'off' ? 'is-off' : ''} ${state === 'exclude' ? 'is-excluded' : ''}`}
      >
        {/* Set by property, which the content security policy allows. */}
        <i class="facet-bar" aria-hidden="true" style={{ width: `${Math.round(share * 100)}%` }} />
        <button
          type="button"
          class="flex grow facet-button"
          aria-pressed={state === 'exclude' ? 'mixed' : state === 'include'}
          aria-label={label}
          title={title}
          disabled={!onClick}
          onClick={onClick}
        >
          {hasBox ? <span class="fixed facet-box">{state === 'include' ? <Icon name="check" /> : null}</span> : null}
          <span class="flex cut facet-text">{typeof text === 'string' ? <span class="cut">{text}</span> : text}</span>
        </button>
        {props.children}
        <span class="fixed dim facet-count" title={countTitle}>
          {count ?? ''}
        </span>
      </div>
      {props.below}
    </li>
  );
}

const LEVEL_ROWS = [
  { level: 'FATAL', name: 'Fatal', tone: 'problem' },
  { level: 'ERROR', name: 'Error', tone: 'problem' },
  { level: 'WARN', name: 'Warn', tone: 'warning' },
  { level: 'INFO', name: 'Info', tone: '' },
  { level: 'DEBUG', name: 'Debug', tone: '' },
  { level: 'TRACE', name: 'Trace', tone: '' },
  // Records without a level are shown and hidden with the lowest ones.
  { level: 'NONE', name: 'No level', tone: '' },
] as const satisfies readonly { level: Level | 'NONE'; name: string; tone: string }[];

interface LevelFacetProps {
  histogram: HistogramResult | null;
  minLevel: Level | null;
  onChange: (minLevel: Level | null) => void;
}

/** The lowest level shown, with counts of all: of those hidden, too. */
function LevelFacet({ histogram, minLevel, onChange }: LevelFacetProps) {
  const rows = levelCounts(histogram, minLevel);
  const most = Math.max(1, ...rows.map(({ count }) => count ?? 0));
  return (
    <Facet name="Level">
      <ul aria-label="Levels shown">
        {rows.map(({ level, name, tone, count, isShown, isPartial }) => {
          const counted = count === null ? '' : `${formatCount(count)}${isPartial ? '+' : ''}`;
          const isLowest = minLevel !== null && level === minLevel;
          return (
            <FacetValue
              key={level}
              hasBox
              text={name}
              tone={tone}
              count={counted}
              countTitle={isPartial ? 'Partial count: there may be more' : undefined}
              share={(count ?? 0) / most}
              state={isShown ? 'include' : 'off'}
              label={`${name}${level === 'NONE' ? '' : ' and above'}${counted && `, ${counted}${isShown ? '' : ' hidden'}`}`}
              onClick={() => onChange(isLowest || level === 'NONE' ? null : level)}
            />
          );
        })}
      </ul>
    </Facet>
  );
}

/** Levels that occur, or are chosen. A partial count may be too low: of a level that it has nothing of, nothing is known. */
export function levelCounts(histogram: HistogramResult | null, minLevel: Level | null) {
  const sums = histogram && levelSums(histogram.buckets);
  const isPartial = histogram !== null && isPartialCount(histogram);
  const lowest = LEVEL_ROWS.findIndex(({ level }) => level === (minLevel ?? 'NONE'));
  return LEVEL_ROWS.map((row, index) => ({
    ...row,
    isShown: index <= lowest,
    count: sums && (sums[row.level] ?? (isPartial ? null : 0)),
    isPartial,
  })).filter(({ level, count }) => (count ?? 0) > 0 || level === minLevel || /^(ERROR|WARN|INFO)$/.test(level));
}

const NODES_MS = 3000;

/** Nodes and labels listed before somebody looks for others. */
const MAX_NODES = 12;

/** What the chart has counted, without the levels that are hidden: they are part of that. */
function useShownLevels({ view, source, histogram }: Pick<FacetsProps, 'view' | 'source' | 'histogram'>) {
  const isNeeded = view.minLevel !== null && histogram !== null;
  const of = countKey(view);
  const { value, failure, isLoading, retry } = useRequest(
    isNeeded ? `${of} ${JSON.stringify(histogram.buckets.at(-1))}` : '',
    PAUSE_MS,
    async (signal) => {
      if (!isNeeded) return null;
      const request = { filter: toFilter(view, Date.now()), buckets: 1 };
      return { of, counted: await source.histogram(request, { signal, budgetMs: NODES_MS }) };
    },
    rowsAwaited,
  );
  if (!isNeeded) return { counted: histogram, failure: null, retry };
  // Until it is counted again, the last count of the same records is shown.
  return { counted: value?.of === of ? value.counted : null, failure: isLoading ? null : failure, retry };
}

/** Which nodes are shown: a click on one shows only it, on others those, too. Each can be opened to choose its logs. */
function NodeFacet({ view, source, histogram, change }: Omit<FacetsProps, 'zone'>) {
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  const [typed, setTyped] = useState('');
  const [opened, setOpened] = useState<readonly string[]>([]);
  const { counted, failure, retry } = useShownLevels({ view, source, histogram });
  const counts = nodeCounts(counted, source.nodes[0]);
  const most = Math.max(1, ...counts.values());
  const isPartial = counted !== null && isPartialCount(counted);
  const countOf = (id: string) => {
    const count = counts.get(id) ?? (isPartial || !counted?.members.some((report) => report.id === id) ? null : 0);
    return count === null ? null : `${formatCount(count)}${isPartial ? '+' : ''}`;
  };
  const isChosen = (id: string) => view.sources.some(({ node }) => matchesPattern(id, node));
  const found = nodes.filter(({ id }) => id.includes(typed.trim()));
  const shown = found.toSorted((a, b) => Number(isChosen(b.id)) - Number(isChosen(a.id))).slice(0, MAX_NODES);
  return (
    <Facet name="Node">
      {nodes.length > MAX_NODES ? (
        <div class="col facet-fields">
          <FilterField what="nodes" value={typed} onInput={setTyped} />
        </div>
      ) : null}
      {failure ? <CountFailure what="Nodes" failure={failure} onRetry={retry} /> : null}
      <ul aria-label="Nodes shown">
        {shown.map(({ id, state }) => {
          const count = countOf(id);
          const isOpen = opened.includes(id);
          return (
            <FacetValue
              key={id}
              hasBox
              text={
                <>
                  <NodeDot id={id} />
                  <span class="cut">{id}</span>
                  {state === 'up' ? null : <span class="chip is-err">gone</span>}
                </>
              }
              title={id}
              count={count}
              share={(counts.get(id) ?? 0) / most}
              state={view.sources.length === 0 || isChosen(id) ? 'include' : 'off'}
              label={[id, state === 'up' ? null : 'gone', count].filter((part) => part !== null).join(', ')}
              onClick={() => change({ sources: toggledNode(view.sources, id), at: null })}
              below={isOpen ? <NodeLogs node={id} {...{ view, change }} /> : null}
            >
              <span class="fixed value-actions">
                <IconButton
                  label={`Logs of ${id}`}
                  icon={isOpen ? 'open' : 'file'}
                  aria-expanded={isOpen}
                  onClick={() => setOpened(toggleName(opened, id))}
                />
              </span>
            </FacetValue>
          );
        })}
      </ul>
      {found.length > shown.length ? (
        <p class="small faint facet-status">{formatCounted(found.length - shown.length, 'more node')}</p>
      ) : null}
    </Facet>
  );
}

/** Only nodes with labels; of several with the same name, one has to match. */
function LabelFacet({ view, change }: Pick<FacetsProps, 'view' | 'change'>) {
  const offered = offeredLabels(useStore(cluster.state).value?.nodes ?? []);
  const labels = [...new Set([...view.labels, ...offered])].slice(0, MAX_NODES);
  if (labels.length === 0) return null;
  return (
    <Facet name="Label">
      <ul aria-label="Only nodes with these labels">
        {labels.map((label) => (
          <FacetValue
            key={label}
            hasBox
            text={label}
            count={null}
            share={0}
            state={view.labels.length === 0 || view.labels.includes(label) ? 'include' : 'off'}
            onClick={() => change({ labels: toggleName(view.labels, label), at: null })}
          />
        ))}
      </ul>
    </Facet>
  );
}

/** The logs of a node: a click shows only this one of them, on others those, too. */
function NodeLogs({ node, view, change }: { node: string } & Pick<FacetsProps, 'view' | 'change'>) {
  const { value, failure, isLoading, retry } = useRequest(node, 0, async (signal) => {
    const { files } = await session.client.logFiles({ nodes: [node] }, { signal });
    return fileFamilies(files);
  });
  if (failure && !isLoading) return <CountFailure what={`Logs of ${node}`} failure={failure} onRetry={retry} />;
  if (!value) return <Loading what={`the logs of ${node}`} />;
  const most = Math.max(1, ...value.map(({ sizeBytes }) => sizeBytes));
  return (
    <ul class="facet-logs" aria-label={`Logs of ${node}`}>
      {value.map(({ name, sizeBytes }) => (
        <FacetValue
          key={name}
          hasBox
          text={name}
          title={name}
          count={formatBytes(sizeBytes)}
          share={sizeBytes / most}
          state={isLogShown(view.sources, node, name) ? 'include' : 'off'}
          onClick={() => change({ sources: toggledLog(view.sources, node, name), at: null })}
        />
      ))}
    </ul>
  );
}

/** The first one chosen is shown alone, also of those a pattern matches; the last one taken away shows all. */
export function toggledNode(sources: readonly SourceChoice[], node: string): SourceChoice[] {
  const matching = sources.filter((source) => isPattern(source.node) && matchesPattern(node, source.node));
  if (matching.length > 0) return matching.map(({ log }) => ({ node, log }));
  const others = sources.filter((source) => source.node !== node);
  return others.length < sources.length ? others : [...sources, { node, log: null }];
}

/** The first one chosen is shown instead of all logs of its node; the last one taken away shows all again. */
export function toggledLog(sources: readonly SourceChoice[], node: string, name: string): SourceChoice[] {
  const others = sources.filter((source) => !isLogOf(source, node, name));
  if (others.length < sources.length) return others;
  return [
    ...sources.filter((source) => source.log !== null || !matchesPattern(node, source.node)),
    { node, log: { kind: 'family', name } },
  ];
}

export function isLogShown(sources: readonly SourceChoice[], node: string, name: string): boolean {
  return (
    sources.length === 0 ||
    sources.some((source) => (source.log === null && matchesPattern(node, source.node)) || isLogOf(source, node, name))
  );
}

function isLogOf(source: SourceChoice, node: string, name: string): boolean {
  return source.log?.kind === 'family' && source.log.name === name && matchesPattern(node, source.node);
}

/** Records by node; of a log that names no nodes, all of `only`. */
export function nodeCounts(histogram: Pick<HistogramResult, 'buckets'> | null, only?: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const bucket of histogram?.buckets ?? []) {
    const all = Object.values(bucket.counts).reduce((sum, count) => sum + count, 0);
    const { nodes = only === undefined ? {} : { [only]: all } } = bucket as {
      nodes?: Readonly<Record<string, number>>;
    };
    for (const [id, count] of Object.entries(nodes)) counts.set(id, (counts.get(id) ?? 0) + count);
  }
  return counts;
}

const MAX_PATTERNS = 6;

const PATTERNS_MS = 2000;

/** The most frequent kinds of records, by call site. */
function PatternValues({ view, change }: Pick<FacetsProps, 'view' | 'change'>) {
  const send = (signal: AbortSignal) => {
    const filter = toRecordFilter(toFilter({ ...view, callSite: null }, Date.now()));
    return Promise.all(
      memberSelections(view).map((selection) =>
        session.client.digest(
          { nodes: ['*'], ...filter, ...selection, limit: MAX_PATTERNS },
          { signal, budgetMs: PATTERNS_MS },
        ),
      ),
    ).then(mergePatterns);
  };
  const key = `patterns ${countKey(view)}`;
  const { value, failure, isLoading, retry } = useRequest(key, 2 * PAUSE_MS, send, rowsAwaited);
  if (failure && !isLoading) return <CountFailure what="Patterns" failure={failure} onRetry={retry} />;
  if (!value) return <Loading what="the patterns" />;
  const most = Math.max(1, ...value.groups.map(({ count }) => count));
  const isPartial = isPartialCount({ counted: null, members: value.members });
  return (
    <ul aria-busy={isLoading}>
      {value.groups.map((group) => {
        const text = oneLine(visibleText(patternParts(group).join('…').slice(0, 200)));
        // The records of a call site have one level.
        const term = patternQuery(group.source === null ? group : { ...group, level: null });
        const state = patternState(view, group, term);
        return (
          <FacetValue
            key={`${group.level} ${group.source ?? group.shape}`}
            text={text}
            title={`${group.source ?? ''}\n${text}`.trim()}
            count={`${formatCount(group.count)}${isPartial ? '+' : ''}`}
            share={group.count / most}
            state={state}
            tone={
              group.level === 'ERROR' || group.level === 'FATAL' ? 'problem' : group.level === 'WARN' ? 'warning' : ''
            }
            onClick={term && (() => clickPattern(group, term, { view, change }))}
          />
        );
      })}
    </ul>
  );
}

type Pattern = Pick<ClusterDigest['groups'][number], 'source'>;

function patternState({ callSite, query }: LogsView, { source }: Pattern, term: QueryNode | undefined) {
  if (callSite !== null) return callSite === source ? 'include' : 'off';
  return term ? termState(query, term) : null;
}

/**
 * A pattern is included by its call site; otherwise, and where it is excluded, by the query, in which it can be seen and
 * taken back.
 */
export function clickPattern({ source }: Pattern, term: QueryNode, { view, change }: TermDeps): void {
  if (source === null) clickTerm(term, { view, change });
  else if (view.callSite !== source) change({ callSite: source });
  else addToQuery(term, 'exclude', { view, change: (part) => change({ callSite: null, ...part }) });
}

type TermDeps = Pick<FacetsProps, 'view' | 'change'>;

/** Nothing, included, excluded, and nothing again. */
function clickTerm(term: QueryNode, { view, change }: TermDeps): void {
  const state = termState(view.query, term);
  const query = state === null ? view.query : withoutTerm(view.query, term);
  if (state === 'exclude') change({ query });
  else addToQuery(term, state === null ? 'include' : 'exclude', { view: { ...view, query }, change });
}

/** The requests that together are about the logs of a view: one for each log, of all nodes where it is chosen. */
export function memberSelections({ sources, labels }: Pick<LogsView, 'sources' | 'labels'>) {
  const labelled = labels.length > 0 ? { labels } : {};
  if (sources.length === 0) return [labelled];
  const whole = sources.filter(({ log }) => log === null);
  const byLog = new Map<string, { log: SourceChoice['log']; nodes: string[] }>();
  for (const { node, log } of sources) {
    // A log of a node that is chosen as a whole is counted there.
    if (log !== null && whole.some((other) => matchesPattern(node, other.node))) continue;
    const key = JSON.stringify(log);
    const group = byLog.get(key) ?? { log, nodes: [] };
    byLog.set(key, { log, nodes: [...new Set([...group.nodes, node])] });
  }
  return [...byLog.values()].map(({ log, nodes }) => ({ nodes, ...labelled, ...(log && { src: [logSource(log)] }) }));
}

/** The same call site, or the same shape of messages, of several logs is one pattern. */
export function mergePatterns(digests: readonly Pick<ClusterDigest, 'groups' | 'members'>[]) {
  const groups = new Map<string, ClusterDigest['groups'][number]>();
  for (const group of digests.flatMap((digest) => digest.groups)) {
    const key = JSON.stringify([group.level, group.source ?? group.shape]);
    const known = groups.get(key);
    groups.set(key, known ? { ...known, count: known.count + group.count } : group);
  }
  const largest = [...groups.values()].sort((a, b) => b.count - a.count).slice(0, MAX_PATTERNS);
  return { groups: largest, members: digests.flatMap(({ members }) => members) };
}

interface FieldsStatusProps {
  value: FieldsResult | null;
  atMs: number;
  zone: ZoneName;
  isLoading: boolean;
  onRefresh: () => void;
}

/** What the list is about, and of when. */
function FieldsStatus({ value, atMs, zone, isLoading, onRefresh }: FieldsStatusProps) {
  if (!value) return isLoading ? <Loading what="the fields" /> : null;
  if (isLoading) return <p class="small facet-status faint">Counting…</p>;
  const part = partText(value.counted, zone, Date.now());
  return (
    <p class="small facet-status faint" role="status">
      {examinedText(value)} · {formatSecond(atMs, zone)} · <LinkButton onClick={onRefresh}>refresh</LinkButton>
      {part ? <span class="warning"> · {part}</span> : null}
    </p>
  );
}

/** Chosen fields are listed even if no examined record has them. */
function listedFields(value: FieldsResult | null, chosen: readonly string[]): FieldSummary[] {
  const known = value?.fields.filter(({ name }) => !OWN_FACETS.has(name)) ?? [];
  const unknown = [...new Set(chosen)].filter((name) => !known.some((field) => field.name === name));
  const none = { types: [], records: 0, distinct: 0, isDistinctExact: false, examples: [] };
  return [...unknown.map((name) => ({ name, ...none })), ...known];
}

function FieldsNote({ value, isFound }: { value: FieldsResult; isFound: boolean }) {
  const { fields, totalFields } = value;
  const note =
    fields.length === 0
      ? emptyText(value)
      : !isFound
        ? 'No field with this name among those listed.'
        : totalFields > fields.length
          ? `At least ${totalFields - fields.length} rarer fields are not listed.`
          : null;
  return note === null ? null : <p class="small facet-status dim">{note}</p>;
}

type FieldFacetProps = { field: FieldSummary; isPinned?: boolean } & Pick<
  FacetsProps,
  'view' | 'source' | 'zone' | 'change'
>;

/** A field: a pinned one is opened and closed like other facets, the others are remembered by the URL. */
function FieldFacet({ field, isPinned = false, view, source, zone, change }: FieldFacetProps) {
  const { name, distinct, examples } = field;
  const shown = oneLine(visibleText(name));
  const example = examples.length > 0 ? `\ne.g. ${visibleText(examples.slice(0, 3).join(', ').slice(0, 200))}` : '';
  const toggle = () => change({ countedBy: toggleName(view.countedBy, name) }, { replace: true });
  return (
    <Facet
      name={<span class="cut">{shown}</span>}
      isOpen={isPinned ? undefined : view.countedBy.includes(name)}
      tip={`${distinct === 0 ? shown : fieldText(field)}${example}`}
      onToggle={isPinned ? undefined : toggle}
      aside={
        <ActionButtons
          actions={fieldActions(name, { view, change }).filter(({ kind }) => kind === 'column' || kind === 'pin')}
        />
      }
    >
      <FieldValues by={name} {...{ view, source, zone, change }} />
    </Facet>
  );
}

const MAX_VALUES = 10;

/** Counting all values takes longer than a sample. */
const VALUES_MS = 5000;

/** A value that is shown cut is not known completely. */
const CUT = /^.{200,}…$/su;

type FieldValuesProps = { by: string } & Pick<FacetsProps, 'view' | 'source' | 'zone' | 'change'>;

/** The most frequent values of a field, with counts and bars, and those that are excluded. */
function FieldValues({ by, view, source, zone, change }: FieldValuesProps) {
  const { value, failure, isLoading, retry } = useRequest(
    `${by} ${countKey(view)}`,
    PAUSE_MS,
    (signal) =>
      source.top({ filter: toFilter(view, Date.now()), by, limit: MAX_VALUES }, { signal, budgetMs: VALUES_MS }),
    rowsAwaited,
  );
  if (failure && !isLoading) return <CountFailure what={visibleText(by)} failure={failure} onRetry={retry} />;
  if (!value) return <Loading what={`values of ${visibleText(by)}`} />;
  const part = partText(value.counted, zone, Date.now());
  const lines = facetLines(value);
  const excluded = excludedValues(view.query, by).filter((own) => !lines.some((line) => line.value === own));
  const most = Math.max(0.001, ...lines.map(({ share }) => share));
  return (
    <>
      {part ? <p class="small facet-status warning">{part}</p> : null}
      {lines.length === 0 ? <p class="small facet-status dim">{emptyText(value)}</p> : null}
      <ul class={isLoading ? 'is-counting' : ''} aria-busy={isLoading}>
        {lines.map((line) => (
          <ValueLine key={`${line.kind} ${line.value}`} {...{ line, by, view, change }} share={line.share / most} />
        ))}
        {excluded.map((own) => (
          <ValueLine
            key={own}
            line={{ kind: 'value', value: own, text: own, count: '', share: 0 }}
            {...{ by, view, change }}
            share={0}
          />
        ))}
      </ul>
      {value.values.some(({ error }) => error !== undefined) ? (
        <p class="small facet-status dim">≥ is a lower bound: there are too many values to count each.</p>
      ) : null}
    </>
  );
}

type ValueLineProps = { line: FacetLine; by: string; share: number } & Pick<FacetsProps, 'view' | 'change'>;

function ValueLine({ line, by, share, view, change }: ValueLineProps) {
  const text = oneLine(visibleText(line.text));
  const term = { kind: 'field', field: by, operator: '=', value: line.value } as const;
  const state = line.kind === 'value' ? termState(view.query, term) : null;
  const actions = lineActions(line, by, { view, change });
  const include = actions.find(({ kind }) => kind === 'include')?.run;
  return (
    <FacetValue
      text={line.kind === 'value' && line.text === '' ? '(empty)' : text}
      title={text}
      count={line.count}
      countTitle={line.title}
      share={share}
      state={state ?? (line.kind === 'value' ? null : 'off')}
      onClick={state === null ? include : () => clickTerm(term, { view, change })}
    >
      {state === null ? (
        <ActionButtons actions={actions.filter(({ kind }) => kind === 'exclude')} />
      ) : (
        <Icon name={state} />
      )}
    </FacetValue>
  );
}

function lineActions({ kind, value }: FacetLine, by: string, deps: Pick<FacetsProps, 'view' | 'change'>) {
  if (kind === 'missing') return missingActions(by, deps);
  if (kind === 'others' || CUT.test(value)) return [];
  return valueActions(by, value, deps).filter((action) => action.kind === 'include' || action.kind === 'exclude');
}

/* The field list as texts. */

/** One line below a field. */
interface FacetLine {
  kind: 'value' | 'others' | 'missing';
  /** The value; empty for lines of another kind. */
  value: string;
  text: string;
  /** `1,204`; `≥ 1,204` for a lower bound, `1,204+` if not everything was counted. */
  count: string;
  /** What the count means, if it is not exact. */
  title?: string;
  /** Its share of all selected records, 0 to 1. */
  share: number;
}

/** Values, those that are not listed together, and the records without the field. */
export function facetLines(top: TopResult): FacetLine[] {
  const { by, values, others, missing, distinct, isExact } = top;
  const more = isPartialCount(top) ? '+' : '';
  const all = values.reduce((sum, { count }) => sum + count, 0) + others + missing;
  const share = (count: number) => (all === 0 ? 0 : count / all);
  const lines: FacetLine[] = values.map(({ value, count, error }) => ({
    ...{ kind: 'value', value, text: value, share: share(count) },
    count: error === undefined ? `${formatCount(count)}${more}` : `≥ ${formatCount(count)}`,
    ...(error !== undefined && { title: `between ${formatCount(count)} and ${formatCount(count + error)}` }),
  }));
  if (others > 0) {
    const left = Math.max(1, distinct - values.length);
    const number = `${isExact ? '' : '~ '}${formatCount(left)}`;
    const text = `${number} other ${left === 1 ? 'value' : 'values'}`;
    lines.push({
      ...{ kind: 'others', value: '', text, share: share(others) },
      count: `${isExact || more ? '' : '≤ '}${formatCount(others)}${more}`,
      ...(!isExact && { title: 'estimated' }),
    });
  }
  if (missing > 0) {
    const text = `without ${by}`;
    lines.push({ kind: 'missing', value: '', text, count: `${formatCount(missing)}${more}`, share: share(missing) });
  }
  return lines;
}

/** `number · 16 values`; `≥ 16` if there may be many more, `~ 16` if they are estimated. */
export function fieldText(field: FieldSummary): string {
  const { types, distinct, isDistinctExact } = field;
  const mark = isDistinctMinimum(field) ? '≥ ' : isDistinctExact ? '' : '~ ';
  return [...types.slice(0, 1), `${mark}${formatCounted(distinct, 'value')}`].join(' · ');
}

/** How many records the list is about: all of them, or a sample. */
export function examinedText(result: FieldsResult): string {
  const { records, isSample } = result;
  const more = isPartialCount(result) ? '+' : '';
  const count = `${formatCount(records)}${more} ${records === 1 && !more ? 'record' : 'records'}`;
  return isSample ? `Sample of ${count}` : count;
}

export function emptyText(result: Pick<TopResult, 'counted' | 'members'>): string {
  return absenceText('No record matches', { isComplete: !isPartialCount(result) });
}

/** What part was counted before the time was over; `null`: everything. */
export function partText(counted: TopResult['counted'], zone: ZoneName, nowMs: number): string | null {
  if (counted === null) return null;
  if (counted.toMs <= counted.fromMs) return 'Scan stopped (time budget)';
  const [from, to] = [counted.fromMs, counted.toMs].map((timeMs) => formatShortTime(timeMs, zone, nowMs));
  return `Scan stopped (time budget): only ${from} to ${to}`;
}

export function filterFields(fields: readonly FieldSummary[], typed: string): FieldSummary[] {
  const wanted = typed.trim().toLowerCase();
  return fields.filter(({ name }) => name.toLowerCase().includes(wanted));
}
