import { oneLine, visibleText } from '../../../log-view/rows/record-text.ts';
import { Loading, PartialNote } from '../../../ui/notes.tsx';
import { missingActions, valueActions } from '../values/field-actions.ts';
import { countKey, toFilter } from '../workspace/apply-view.ts';
import { emptyText, type FacetLine, facetLines, partText } from './facet-lines.ts';
import type { FieldPanelProps } from './field-panel.tsx';
import { ActionButtons, CountFailure } from './panel-parts.tsx';
import { useCounted } from './use-counted.ts';

const MAX_VALUES = 10;

/** Counting all values takes longer than a sample. */
const BUDGET_MS = 5000;

/** A value that is shown cut is not known completely. */
const CUT = /^.{200,}…$/su;

type FacetValuesProps = { by: string } & Omit<FieldPanelProps, 'onClose'>;

/** The most frequent values of a field, with counts and bars. */
export function FacetValues({ by, view, source, zone, change }: FacetValuesProps) {
  const { value, failure, isLoading, retry } = useCounted(`${by} ${countKey(view)}`, (signal) =>
    source.top({ filter: toFilter(view, Date.now()), by, limit: MAX_VALUES }, { signal, budgetMs: BUDGET_MS }),
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
