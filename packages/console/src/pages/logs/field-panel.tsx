import type { FieldSummary } from '@porthole/client';
import { absenceText, isDistinctMinimum } from '@porthole/contract';
import { useId, useState } from 'preact/hooks';
import { oneLine, visibleText } from '../../log-view/rows/record-text.ts';
import { type FieldsResult, isPartialCount, type LogSource, type TopResult } from '../../log-view/source/log-source.ts';
import type { LogsView, ZoneName } from '../../state/view.ts';
import { toggleName } from '../../state/view-url.ts';
import { Button, IconButton, LinkButton } from '../../ui/controls.tsx';
import { formatCount, formatCounted, formatSecond, formatShortTime } from '../../ui/format.ts';
import { useRequest } from '../../ui/hooks.ts';
import { Loading, PartialNote } from '../../ui/notes.tsx';
import { ActionButtons, CountFailure, fieldActions, missingActions, valueActions } from './field-actions.tsx';
import { countKey, toFilter } from './use-log-workspace.ts';

/** Rows come first, and what changes quickly is not counted in between. */
const PAUSE_MS = 400;

/** More are not read. */
const MAX_FIELDS = 200;

/** Enough for a sample. */
const FIELDS_MS = 3000;

interface FieldPanelProps {
  view: LogsView;
  source: LogSource;
  zone: ZoneName;
  change: (change: Partial<LogsView>, options?: { replace?: boolean }) => void;
  onClose: () => void;
}

/** The fields of the selected records; each can be opened to count its values. */
export function FieldPanel({ view, source, zone, change, onClose }: FieldPanelProps) {
  const [typed, setTyped] = useState('');
  const { value, atMs, failure, isLoading, retry } = useRequest(countKey(view), PAUSE_MS, (signal) =>
    source.fields({ filter: toFilter(view, Date.now()), limit: MAX_FIELDS }, { signal, budgetMs: FIELDS_MS }),
  );
  return (
    <aside class="field-panel" aria-label="Fields" aria-busy={isLoading}>
      <header>
        <h2>Fields</h2>
        <IconButton label="Close the field list" onClick={onClose}>
          ×
        </IconButton>
      </header>
      <input
        type="search"
        aria-label="Filter fields by name"
        placeholder="Filter fields"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <PanelStatus {...{ value, atMs, zone, isLoading }} onRefresh={retry} />
      {failure && !isLoading ? <CountFailure what="Fields" failure={failure} onRetry={retry} /> : null}
      {value ? <PartialNote answer={value} onRetry={retry} /> : null}
      <ul class={`facets ${isLoading ? 'is-counting' : ''}`}>
        {listedFields(value, view.countedBy, typed).map((field) => (
          <FacetField key={field.name} field={field} {...{ view, source, zone, change }} />
        ))}
      </ul>
      {value ? <MoreFields value={value} typed={typed} /> : null}
    </aside>
  );
}

interface PanelStatusProps {
  value: FieldsResult | null;
  atMs: number;
  zone: ZoneName;
  isLoading: boolean;
  onRefresh: () => void;
}

/** What the list is about, and of when. */
function PanelStatus({ value, atMs, zone, isLoading, onRefresh }: PanelStatusProps) {
  if (!value) return isLoading ? <Loading what="the fields" /> : null;
  const part = partText(value.counted, zone, Date.now());
  return (
    <p class="dim facets-status" role="status">
      {isLoading ? 'Counting…' : `${examinedText(value)} · as of ${formatSecond(atMs, zone)}`}
      {isLoading ? null : (
        <>
          {' · '}
          <LinkButton onClick={onRefresh}>refresh</LinkButton>
        </>
      )}
      {part && !isLoading ? <span class="warning"> · {part}</span> : null}
    </p>
  );
}

/** Opened fields are listed even if no examined record has them. */
function listedFields(value: FieldsResult | null, opened: readonly string[], typed: string): FieldSummary[] {
  const known = value?.fields ?? [];
  const unknown = opened.filter((name) => !known.some((field) => field.name === name));
  const none = { types: [], records: 0, distinct: 0, isDistinctExact: false, examples: [] };
  return filterFields([...unknown.map((name) => ({ name, ...none })), ...known], typed);
}

function MoreFields({ value, typed }: { value: FieldsResult; typed: string }) {
  const { fields, totalFields } = value;
  if (fields.length === 0) return <p class="dim">{emptyText(value)}</p>;
  if (filterFields(fields, typed).length === 0) return <p class="dim">No field with this name among those listed.</p>;
  return totalFields > fields.length ? (
    <p class="dim">At least {totalFields - fields.length} rarer fields are not listed.</p>
  ) : null;
}

type FacetFieldProps = { field: FieldSummary } & Omit<FieldPanelProps, 'onClose'>;

function FacetField({ field, view, source, zone, change }: FacetFieldProps) {
  const id = useId();
  const { name, distinct } = field;
  const isOpen = view.countedBy.includes(name);
  const shown = oneLine(visibleText(name));
  return (
    <li>
      <div class="facet-head">
        <Button
          class="facet-name"
          aria-expanded={isOpen}
          aria-controls={id}
          title={
            field.examples.length > 0
              ? `e.g. ${visibleText(field.examples.slice(0, 3).join(', ').slice(0, 200))}`
              : shown
          }
          onClick={() => change({ countedBy: toggleName(view.countedBy, name) }, { replace: true })}
        >
          <i aria-hidden="true">{isOpen ? '▾' : '▸'}</i> <b>{shown}</b>{' '}
          <span class="dim">{distinct === 0 ? '' : fieldText(field)}</span>
        </Button>
        <ActionButtons actions={fieldActions(name, { view, change }).filter(({ kind }) => kind === 'column')} />
      </div>
      <div id={id}>{isOpen ? <FacetValues by={name} {...{ view, source, zone, change }} /> : null}</div>
    </li>
  );
}

const MAX_VALUES = 10;

/** Counting all values takes longer than a sample. */
const VALUES_MS = 5000;

/** A value that is shown cut is not known completely. */
const CUT = /^.{200,}…$/su;

type FacetValuesProps = { by: string } & Omit<FieldPanelProps, 'onClose'>;

/** The most frequent values of a field, with counts and bars. */
function FacetValues({ by, view, source, zone, change }: FacetValuesProps) {
  const { value, failure, isLoading, retry } = useRequest(`${by} ${countKey(view)}`, PAUSE_MS, (signal) =>
    source.top({ filter: toFilter(view, Date.now()), by, limit: MAX_VALUES }, { signal, budgetMs: VALUES_MS }),
  );
  if (failure && !isLoading) return <CountFailure what={visibleText(by)} failure={failure} onRetry={retry} />;
  if (!value) return <Loading what={`values of ${visibleText(by)}`} />;
  const part = partText(value.counted, zone, Date.now());
  const lines = facetLines(value);
  return (
    <>
      <PartialNote answer={value} onRetry={retry} />
      {part ? <p class="warning facets-status">{part}</p> : null}
      {lines.length === 0 ? <p class="dim">{emptyText(value)}</p> : null}
      <ul class={`facet-values ${isLoading ? 'is-counting' : ''}`} aria-busy={isLoading}>
        {lines.map((line) => (
          <ValueLine key={`${line.kind} ${line.value}`} {...{ line, by, view, change }} />
        ))}
      </ul>
      {value.values.some(({ error }) => error !== undefined) ? (
        <p class="dim facets-status">≥ is a lower bound: there are too many values to count each.</p>
      ) : null}
    </>
  );
}

function ValueLine({
  line,
  by,
  view,
  change,
}: { line: FacetLine; by: string } & Pick<FieldPanelProps, 'view' | 'change'>) {
  const text = oneLine(visibleText(line.text));
  return (
    <li class={line.kind === 'value' ? '' : 'dim'}>
      {/* Set by property, which the content security policy allows. */}
      <i class="facet-bar" aria-hidden="true" style={{ width: `${Math.round(line.share * 100)}%` }} />
      <span class="facet-text" title={text}>
        {line.kind === 'value' && line.text === '' ? '(empty)' : text}
      </span>
      <span class="facet-count" title={line.title}>
        {line.count}
      </span>
      <ActionButtons actions={lineActions(line, by, { view, change })} />
    </li>
  );
}

function lineActions({ kind, value }: FacetLine, by: string, deps: Pick<FieldPanelProps, 'view' | 'change'>) {
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

/** Why a list is empty. */
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

/** Fields whose name contains the typed text. */
export function filterFields(fields: readonly FieldSummary[], typed: string): FieldSummary[] {
  const wanted = typed.trim().toLowerCase();
  return fields.filter(({ name }) => name.toLowerCase().includes(wanted));
}
