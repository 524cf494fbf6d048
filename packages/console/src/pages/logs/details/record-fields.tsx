import { type RecordField, recordFields } from '@porthole/logs/query';
import { useMemo } from 'preact/hooks';
import { visibleText } from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import type { LogsView } from '../../../state/view.ts';
import { ActionButtons } from '../facets/panel-parts.tsx';
import { valueActions } from '../values/field-actions.ts';

/** More would slow the page. */
const MAX_FIELDS = 100;

const SHOWN_CHARACTERS = 2048;

interface RecordFieldsProps {
  record: ShownRecord;
  view: LogsView;
  change: (change: Partial<LogsView>) => void;
}

/** The fields of a record, each with what can be done with its value. */
export function RecordFieldList({ record, view, change }: RecordFieldsProps) {
  // The message is shown above.
  const fields = useMemo(() => recordFields(record).filter(({ name }) => name !== 'message'), [record]);
  if (fields.length === 0) return null;
  return (
    <section>
      <h3>Fields</h3>
      <ul class="field-list">
        {fields.slice(0, MAX_FIELDS).map((field, index) => (
          <FieldLine key={index} field={field} view={view} change={change} />
        ))}
      </ul>
      {fields.length > MAX_FIELDS ? <p class="dim">… {fields.length - MAX_FIELDS} more</p> : null}
    </section>
  );
}

function FieldLine({
  field: { name, text },
  view,
  change,
}: { field: RecordField } & Omit<RecordFieldsProps, 'record'>) {
  return (
    <li>
      <span>
        <span class="dim">{visibleText(name)}</span> {visibleText(text.slice(0, SHOWN_CHARACTERS))}
        {text.length > SHOWN_CHARACTERS ? '…' : ''}
      </span>
      <ActionButtons actions={valueActions(name, text, { view, change })} />
    </li>
  );
}
