import type { ClusterDigest, ClusterItem, ClusterRecord, MemberClock } from '@porthole/client';
import { absenceText, coverageOf, gapsText, patternQuery } from '@porthole/contract';
import { messageShape, type QueryNode, type RecordField, recordFields } from '@porthole/logs/query';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { changedKeys } from '../../events/event-text.ts';
import { loadEvents } from '../../events/load-events.ts';
import { MessageText } from '../../log-view/rows/record-row.tsx';
import {
  levelTone,
  oneLine,
  recordTime,
  SHOWN_CHARACTERS,
  stripAnsi,
  visibleText,
} from '../../log-view/rows/record-text.ts';
import type { LogSource, ShownRecord } from '../../log-view/source/log-source.ts';
import { toFilter } from '../../log-view/source/view-source.ts';
import { cluster, nodeStyle } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { toProblem } from '../../state/to-problem.ts';
import { ALL_LOGS, type LogsView, nodeView, type ZoneName } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { Button, Chip, IconButton, LinkButton, Tabs } from '../../ui/controls.tsx';
import { formatBytes, formatCount, formatDate, formatSpan, formatTime, zoneLabel } from '../../ui/format.ts';
import { useLoaded, useStore } from '../../ui/hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { FieldDistribution, parseMeasure } from './distribution.tsx';
import { ActionButtons, addToQuery, valueActions } from './field-actions.tsx';
import { countKey } from './use-log-workspace.ts';
import { readBytes, type ViewAction } from './view-actions.ts';

/** Stepping through records quickly sends no requests. */
const PAUSE_MS = 200;

/** A message up to this length is rendered at once; a longer one in pieces. */
const MESSAGE_CHARACTERS = 16 * SHOWN_CHARACTERS;

interface DetailsProps {
  record: ShownRecord;
  view: LogsView;
  source: LogSource;
  zone: ZoneName;
  change: (change: Partial<LogsView>) => void;
  onClose: () => void;
  act: (action: ViewAction) => void;
}

type Part = 'fields' | 'around' | 'pattern';

/** All details of one record: its text, its fields, what was around it, and others like it. */
export function Details({ record, view, source, zone, change, onClose, act }: DetailsProps) {
  const [part, setPart] = useState<Part>('fields');
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  const clock = nodes.find(({ id }) => id === record.node)?.clock ?? null;
  const isLong = record.cut === true || record.message.length > MESSAGE_CHARACTERS;
  const box = useRef<HTMLElement>(null);
  useEffect(() => box.current?.scrollTo(0, 0), [record.cursor]);
  const pattern = useMemo(() => patternOf(record), [record]);
  const same = useSamePattern(record, pattern);
  const tabs: { value: Part; text: string }[] = [
    { value: 'fields', text: 'Fields' },
    ...(nodes.length > 1 ? [{ value: 'around', text: 'Around' } as const] : []),
    ...(pattern
      ? [{ value: 'pattern', text: `Same pattern ${same.value ? patternCount(same.value) : ''}`.trim() } as const]
      : []),
  ];
  const shown = tabs.some(({ value }) => value === part) ? part : 'fields';
  return (
    <aside ref={box} class="fixed wraps details" aria-label="Details of the record">
      <header class="flex">
        <Chip tone={toneOf(record)}>{record.level ?? 'no level'}</Chip>
        <b class="cut" style={nodeStyle(record.node)}>
          {record.node}
        </b>
        <span class="grow" />
        <IconButton label="Copy link" icon="link" onClick={() => act('copy-link')} />
        <IconButton label="Copy line" icon="copy" onClick={() => act('copy-line')} />
        {/\.(gz|zst|xz|bz2)$/i.test(record.file) ? null : (
          <IconButton
            label="Download 1 MB of the file around this record"
            icon="download"
            onClick={() => act('download-around')}
          />
        )}
        <IconButton label="Close the details (Escape)" icon="close" onClick={onClose} />
      </header>
      <pre class="record-message">
        <MessageText text={record.message.slice(0, MESSAGE_CHARACTERS)} matcher={null} />
      </pre>
      {isLong ? <RecordRest record={record} /> : null}
      <p class="dim">
        {recordTimeText(record, clock, zone)} {zoneLabel(zone, recordTime(record) ?? Date.now())}
        {record.source ? (
          <>
            {' · '}
            <a href={viewUrl({ ...view, callSite: record.source, at: null, timeMs: null, isLive: false })}>
              {visibleText(record.source)}
            </a>
          </>
        ) : null}
      </p>
      <ChangeHint record={record} />
      <Tabs label="Parts of the details" id="details" value={shown} tabs={tabs} onChange={setPart} />
      <div id="details-panel" role="tabpanel" aria-labelledby={`details-${shown}`}>
        {shown === 'fields' ? (
          <>
            <RecordFieldList {...{ record, view, source, change }} />
            <p class="faint col details-part">
              {record.file} · byte {formatCount(record.offset)} · {formatCount(record.bytes)} bytes
            </p>
          </>
        ) : null}
        {shown === 'around' ? <OtherNodes record={record} zone={zone} /> : null}
        {shown === 'pattern' && pattern ? <SamePattern {...{ record, view, zone, change, pattern, same }} /> : null}
      </div>
    </aside>
  );
}

function toneOf({ level }: ShownRecord): 'err' | 'warn' | undefined {
  const tone = levelTone(level);
  return tone === 'fatal' || tone === 'error' ? 'err' : tone === 'warning' ? 'warn' : undefined;
}

/** A change this long before a record may have to do with it. */
const CHANGE_MS = 3_600_000;

/** That a setting changed on the node shortly before, if a field of the record is named like it, or has its value. */
function ChangeHint({ record }: { record: ShownRecord }) {
  const timeMs = recordTime(record);
  const isBad = toneOf(record) !== undefined;
  const { value } = useDetail(record, async (signal) => {
    if (timeMs === undefined || !isBad) return null;
    const range = { fromMs: timeMs - CHANGE_MS, toMs: timeMs + 1 };
    const { events } = await loadEvents({ ...range, nodes: [record.node], kinds: ['config-changed'] }, signal);
    return events.find(({ node }) => node === record.node) ?? null;
  });
  if (!value || timeMs === undefined) return null;
  const keys = changedKeys(value.fields);
  const names = new Set(recordFields(record).map(({ name }) => name));
  const key = keys.find((each) => names.has(each.split('.').at(-1) ?? '')) ?? keys[0];
  if (key === undefined) return null;
  const field = key.split('.').at(-1) ?? '';
  return (
    <p class="notice is-note">
      <Icon name="config" />
      <span>
        {names.has(field) ? (
          <>
            <b>{field}</b> is a setting: <code>{key}</code> changed
          </>
        ) : (
          <>
            <code>{key}</code> changed
          </>
        )}{' '}
        on this node {formatSpan(timeMs - value.timeMs)} before.{' '}
        <a href={viewUrl(nodeView(record.node, 'config', key))}>Show</a>
      </span>
    </p>
  );
}

/** The time of a record, its clock correction, and the uncertainty of that. */
export function recordTimeText(record: ShownRecord, clock: MemberClock | null, zone: ZoneName): string {
  const timeMs = recordTime(record);
  if (timeMs === undefined) return 'no timestamp';
  const time = `${formatDate(timeMs, zone)} ${formatTime(timeMs, zone)}`;
  const correctedMs = record.timeMs === undefined ? 0 : timeMs - record.timeMs;
  const unsure = clock && clock.uncertaintyMs > 0 ? ` ± ${seconds(clock.uncertaintyMs)}` : '';
  if (correctedMs === 0) return unsure ? `${time}${unsure}` : time;
  return `${time} · ${correctedMs > 0 ? '+' : '−'}${seconds(Math.abs(correctedMs))} corrected${unsure}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}

/** More would slow the page. */
const MAX_FIELDS = 100;

const VALUE_CHARACTERS = 2048;

type RecordFieldsProps = Pick<DetailsProps, 'record' | 'view' | 'source' | 'change'>;

/** The fields of a record, each with what can be done with its value. */
function RecordFieldList({ record, ...props }: RecordFieldsProps) {
  // The message is shown above.
  const fields = useMemo(() => recordFields(record).filter(({ name }) => name !== 'message'), [record]);
  const [opened, setOpened] = useState<string | null>(null);
  if (fields.length === 0) return <p class="dim col details-part">No fields.</p>;
  return (
    <>
      <ul class="field-list">
        {fields.slice(0, MAX_FIELDS).map((field, index) => (
          <FieldLine
            key={index}
            {...{ field, ...props }}
            isOpen={opened === field.name}
            onToggle={() => setOpened(opened === field.name ? null : field.name)}
          />
        ))}
      </ul>
      {fields.length > MAX_FIELDS ? <p class="dim col details-part">… {fields.length - MAX_FIELDS} more</p> : null}
    </>
  );
}

type FieldLineProps = { field: RecordField; isOpen: boolean; onToggle: () => void } & Omit<RecordFieldsProps, 'record'>;

/** A field: records with its value, with others, everything with it; opened, how its values are spread. */
function FieldLine({ field: { name, text }, isOpen, onToggle, view, source, change }: FieldLineProps) {
  const shown = visibleText(name);
  const actions = valueActions(name, text, { view, change });
  const isDirect = ({ kind }: (typeof actions)[number]) => /^(include|exclude|everything)$/.test(kind);
  return (
    <li>
      <div class="field-line">
        <span class="dim cut" title={shown}>
          {shown}
        </span>
        <span class="mono field-value">
          {visibleText(text.slice(0, VALUE_CHARACTERS))}
          {text.length > VALUE_CHARACTERS ? '…' : ''}
        </span>
        <ActionButtons actions={actions.filter(isDirect)}>
          <IconButton label={`More about ${shown}`} icon="count" aria-expanded={isOpen} onClick={onToggle} />
        </ActionButtons>
      </div>
      {isOpen ? (
        <div class="col">
          {parseMeasure(text) ? (
            <FieldDistribution
              {...{ text, source }}
              field={name}
              filter={() => toFilter(view, Date.now())}
              filterKey={countKey(view)}
            />
          ) : null}
          <p class="flex wrap small">
            {actions
              .filter((action) => !isDirect(action))
              .map(({ kind, label, run }) => (
                <LinkButton key={kind} onClick={run}>
                  {label}
                </LinkButton>
              ))}
          </p>
        </div>
      ) : null}
    </li>
  );
}

/** Bytes loaded per click: as much as renders without a pause. */
const PIECE_BYTES = 65_536;

/** Beyond this size the file should be downloaded. */
const MAX_PIECES = 16;

/** The text of a record that is too long for one response, read from its file in pieces. */
function RecordRest({ record }: { record: ShownRecord }) {
  const [pieces, setPieces] = useState<readonly string[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const control = useRef<AbortController | null>(null);
  // Keeps the first bytes of a character that continues in the next piece.
  const decoder = useRef(new TextDecoder());
  const key = `${record.node} ${record.cursor}`;
  useEffect(() => {
    decoder.current = new TextDecoder();
    setPieces([]);
    setFailure(null);
    return () => control.current?.abort();
  }, [key]);
  const shown = Math.min(record.bytes, pieces.length * PIECE_BYTES);
  const isAll = shown >= record.bytes;
  const load = async () => {
    control.current?.abort();
    control.current = new AbortController();
    const { signal } = control.current;
    try {
      const range = {
        start: record.offset + shown,
        end: Math.min(record.offset + record.bytes, record.offset + shown + PIECE_BYTES),
      };
      const member = session.client.node(record.node);
      const bytes = await readBytes(member, { file: record.file, text: true, ...range }, signal);
      const buffer = await bytes.arrayBuffer();
      if (signal.aborted) return;
      const piece = decoder.current.decode(buffer, { stream: range.end < record.offset + record.bytes });
      setPieces([...pieces, visibleText(piece)]);
    } catch (thrown) {
      const { code, detail } = toProblem(thrown);
      if (!signal.aborted) setFailure(`${code}: ${detail}`);
    }
  };
  return (
    <>
      {pieces.map((piece, index) => (
        <pre key={index} class="record-piece">
          {piece}
        </pre>
      ))}
      {failure ? <p class="field-problem">{failure}</p> : null}
      {isAll ? null : pieces.length < MAX_PIECES ? (
        <Button onClick={() => void load()}>
          {pieces.length === 0 ? 'Show the whole text' : 'Show more'} · {formatBytes(record.bytes - shown)} left
        </Button>
      ) : (
        <p class="dim">{formatBytes(record.bytes - shown)} more: download the file to read the rest.</p>
      )}
    </>
  );
}

const AROUND_MS = 2000;

const PER_NODE = 20;

/** Records shown; the rest is one click away. */
const MAX_RECORDS = 8;

const RANKS = { fatal: 0, error: 1, warning: 2, plain: 3, quiet: 4 } as const;

/** Records of other nodes around the time of this one. */
function OtherNodes({ record, zone }: { record: ShownRecord; zone: ZoneName }) {
  const { node, cursor } = record;
  const { value, failure } = useDetail(record, async (signal) => {
    const items: ClusterItem[] = [];
    const request = { at: { node, cursor }, beforeMs: AROUND_MS, afterMs: AROUND_MS, limit: PER_NODE };
    for await (const batch of session.client.around({ nodes: ['*'], ...request }, { signal })) items.push(...batch);
    const end = items.find((item) => item.type === 'end');
    return { records: pickNearbyRecords(items, record), coverage: coverageOf(end ?? { reason: 'cancelled' }) };
  });
  return (
    <section class="col details-part" aria-label="Other nodes at this time">
      {failure ? (
        <p class="field-problem">
          {failure.code}: {failure.detail}
        </p>
      ) : null}
      {value?.records.length === 0 ? (
        <p class="dim" title={gapsText(value.coverage)}>
          {absenceText('Nothing within 2 s on other nodes', value.coverage)}
        </p>
      ) : null}
      <ul class="col mono">
        {value?.records.map((other) => (
          <li key={`${other.node} ${other.cursor}`} class={`row-${levelTone(other.level)}`}>
            <a
              href={viewUrl({ ...ALL_LOGS, at: { node: other.node, cursor: other.cursor }, isLive: false })}
              title={`${formatTime(recordTime(other) ?? 0, zone)} ${other.level ?? ''}`}
            >
              <b style={nodeStyle(other.node)}>{other.node}</b> <span class="row-level">{other.level}</span>{' '}
              <span>{visibleText(stripAnsi(oneLine(other.message.slice(0, 200))))}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Picks records around a time: highest level first, then nearest; returned in order of time. */
export function pickNearbyRecords(items: readonly ClusterItem[], record: ClusterRecord): ClusterRecord[] {
  const atMs = recordTime(record) ?? 0;
  const distance = (other: ClusterRecord) => Math.abs((recordTime(other) ?? 0) - atMs);
  return items
    .filter((item) => item.type === 'record')
    .filter(({ node }) => node !== record.node)
    .toSorted((a, b) => RANKS[levelTone(a.level)] - RANKS[levelTone(b.level)] || distance(a) - distance(b))
    .filter(isNew())
    .slice(0, MAX_RECORDS)
    .toSorted((a, b) => (recordTime(a) ?? 0) - (recordTime(b) ?? 0));
}

/** Removes repeated messages of a node, keeping the nearest one. */
function isNew(): (record: ClusterRecord) => boolean {
  const seen = new Set<string>();
  return ({ node, source, message }) => {
    const recordId = JSON.stringify([node, source, message]);
    const isFirst = !seen.has(recordId);
    seen.add(recordId);
    return isFirst;
  };
}

const BUDGET_MS = 3000;

const GROUPS = 50;

const SPAN_MS = 15 * 60_000;

interface PatternCount {
  count: number;
  /** Nodes with records of this pattern, most first. */
  nodes: string[];
  firstMs: number | null;
  /** Nodes of which nothing is known: they did not respond. */
  silent: string[];
  isPartial: boolean;
}

/** What selects records like this one: its call site, or what it shares with messages of the same level. */
export function patternOf({ source, level, message }: ShownRecord): QueryNode | undefined {
  const sample = { message };
  if (source) return patternQuery({ level: null, source, shape: null, sample });
  return patternQuery({ level: level ?? null, source: null, shape: messageShape(message), sample });
}

/** How often, and on which nodes, the same was logged around this record. */
function useSamePattern(record: ShownRecord, query: QueryNode | undefined) {
  const span = patternSpan(recordTime(record), Date.now());
  const detail = useDetail(record, async (signal) => {
    if (!query) return null;
    const { fromMs, toMs } = span;
    const request = { query, fromMs, toMs, limit: GROUPS };
    return countPattern(await session.client.digest({ nodes: ['*'], ...request }, { signal, budgetMs: BUDGET_MS }));
  });
  return { ...detail, span };
}

interface SamePatternProps extends Pick<DetailsProps, 'record' | 'view' | 'zone' | 'change'> {
  pattern: QueryNode;
  same: ReturnType<typeof useSamePattern>;
}

function SamePattern({ record, view, zone, change, pattern, same }: SamePatternProps) {
  const { value, failure, span } = same;
  const { source } = record;
  const moved = { at: null, timeMs: null, isLive: false } as const;
  return (
    <section class="col details-part" aria-label="The same pattern">
      {failure ? (
        <p class="field-problem">
          {failure.code}: {failure.detail}
        </p>
      ) : null}
      {value ? (
        <p>
          {value.isPartial ? 'at least ' : ''}
          {formatCount(value.count)}× in {span.text}
          {value.nodes.length === 0
            ? ''
            : `, ${value.nodes.length === 1 && value.silent.length === 0 ? 'only on' : 'on'} ${value.nodes.join(', ')}`}
          {value.firstMs === null ? '' : `, first ${formatTime(value.firstMs, zone).slice(0, 8)}`}
          {value.silent.length === 0 ? '' : ` · unknown for ${value.silent.join(', ')}`}
        </p>
      ) : null}
      <p>
        {source ? (
          <a href={viewUrl({ ...view, callSite: source, ...moved })}>Only records from {visibleText(source)}</a>
        ) : (
          <LinkButton
            onClick={() => addToQuery(pattern, 'include', { view, change: (part) => change({ ...part, ...moved }) })}
          >
            Only records with the same words
          </LinkButton>
        )}
      </p>
    </section>
  );
}

/** The time range of the count: the last minutes, or those before an older record. */
export function patternSpan(timeMs: number | undefined, nowMs: number): { fromMs: number; toMs: number; text: string } {
  if (timeMs === undefined || nowMs - timeMs < SPAN_MS) return { fromMs: nowMs - SPAN_MS, toMs: nowMs, text: '15 min' };
  return { fromMs: timeMs - SPAN_MS, toMs: timeMs + 1, text: 'the 15 min before it' };
}

export function countPattern({ groups, members }: Pick<ClusterDigest, 'groups' | 'members'>): PatternCount {
  const counts = new Map<string, number>();
  for (const { nodes } of groups)
    for (const [node, count] of Object.entries(nodes)) counts.set(node, (counts.get(node) ?? 0) + count);
  const times = groups.map(({ firstMs }) => firstMs).filter((timeMs) => timeMs !== null);
  const partial = members.filter(({ outcome, isPartial }) => outcome !== 'ok' || isPartial);
  return {
    count: groups.reduce((sum, group) => sum + group.count, 0),
    nodes: [...counts].toSorted(([, a], [, b]) => b - a).map(([node]) => node),
    firstMs: times.length === 0 ? null : Math.min(...times),
    silent: partial.map(({ id }) => id).filter((id) => !counts.has(id)),
    isPartial: partial.length > 0,
  };
}

/** `1,204`; `1,204+` if there may be more. */
function patternCount({ count, isPartial }: PatternCount): string {
  return `${formatCount(count)}${isPartial ? '+' : ''}`;
}

/** The response to a request about a record; nothing of that about another one. */
function useDetail<Value>({ node, cursor }: ShownRecord, send: (signal: AbortSignal) => Promise<Value>) {
  return useLoaded(`${node} ${cursor}`, send, { pauseMs: PAUSE_MS });
}
