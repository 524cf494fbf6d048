import type { FieldSummary } from '@porthole/client';
import { useId, useState } from 'preact/hooks';
import { oneLine, visibleText } from '../../../log-view/rows/record-text.ts';
import type { FieldsResult, LogSource } from '../../../log-view/source/log-source.ts';
import { toggleName } from '../../../state/field-names.ts';
import type { LogsView, ZoneName } from '../../../state/view.ts';
import { formatSecond } from '../../../ui/format.ts';
import { Loading, PartialNote } from '../../../ui/notes.tsx';
import { fieldActions } from '../values/field-actions.ts';
import { countKey, toFilter } from '../workspace/apply-view.ts';
import { emptyText, examinedText, fieldText, filterFields, partText } from './facet-lines.ts';
import { FacetValues } from './facet-values.tsx';
import { ActionButtons, CountFailure } from './panel-parts.tsx';
import { useCounted } from './use-counted.ts';

/** More are not read. */
const MAX_FIELDS = 200;

/** Enough for a sample. */
const BUDGET_MS = 3000;

export interface FieldPanelProps {
  view: LogsView;
  source: LogSource;
  zone: ZoneName;
  change: (change: Partial<LogsView>, options?: { replace?: boolean }) => void;
  onClose: () => void;
}

/** The fields of the selected records; each can be opened to count its values. */
export function FieldPanel({ view, source, zone, change, onClose }: FieldPanelProps) {
  const [typed, setTyped] = useState('');
  const key = countKey(view);
  const { value, atMs, failure, isLoading, retry } = useCounted(key, (signal) =>
    source.fields({ filter: toFilter(view, Date.now()), limit: MAX_FIELDS }, { signal, budgetMs: BUDGET_MS }),
  );
  return (
    <aside class="field-panel" aria-label="Fields" aria-busy={isLoading}>
      <header>
        <h2>Fields</h2>
        <button type="button" class="icon-button" aria-label="Close the field list" onClick={onClose}>
          ×
        </button>
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
          <button type="button" class="link-button" onClick={onRefresh}>
            refresh
          </button>
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
        <button
          type="button"
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
        </button>
        <ActionButtons actions={fieldActions(name, { view, change }).filter(({ kind }) => kind === 'column')} />
      </div>
      <div id={id}>{isOpen ? <FacetValues by={name} {...{ view, source, zone, change }} /> : null}</div>
    </li>
  );
}
