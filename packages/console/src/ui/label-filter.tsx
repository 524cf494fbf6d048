import { useId, useState } from 'preact/hooks';
import { groupedBy, labelNames, labelProblem, offeredLabels } from '../state/labels.ts';
import { cluster } from '../state/resource.ts';
import { Condition, TextInput } from './controls.tsx';
import { useStore } from './hooks.ts';
import { Icon } from './icon.tsx';
import { Menu } from './menu.tsx';

interface LabelFilterProps {
  /** Nodes with these labels are shown; empty: all. */
  labels: readonly string[];
  onLabels: (labels: readonly string[]) => void;
  by: string | null;
  onBy: (by: string | null) => void;
  /** What else is done with the nodes of a label: `Compare within`. */
  byText?: string;
}

/** Chooses nodes by their labels, and a label to group them by. Renders nothing if no node has labels. */
export function LabelFilter(props: LabelFilterProps) {
  const { labels, onLabels, by, byText } = props;
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  if (byText !== undefined && labelNames(nodes).length + labels.length === 0 && by === null) return null;
  return (
    <div class="flex wrap">
      <LabelChips {...props} />
      <LabelField
        offered={offeredLabels(nodes).filter((label) => !labels.includes(label))}
        onAdd={(label) => onLabels([...labels.filter((other) => other !== label), label])}
      />
      <GroupBy {...props} />
    </div>
  );
}

/** The same behind a button that says what is chosen. */
export function LabelMenu(props: LabelFilterProps) {
  const { labels, by } = props;
  const chosen = [...labels, ...(by === null ? [] : [by === 'none' ? 'not grouped' : `by ${by}`])].join(', ');
  const button = (
    <>
      <Icon name="facets" />
      {chosen || 'All nodes'}
    </>
  );
  return (
    <Menu label={`Nodes: ${chosen || 'all'}`} buttonClass="button is-quiet" button={button}>
      {() => (
        <div class="dim wraps menu-part">
          <LabelFilter {...props} />
        </div>
      )}
    </Menu>
  );
}

/** What nodes are grouped by: a label, and unless something else is done with groups, also their role, or nothing. */
export function GroupBy({ by, onBy, byText }: Pick<LabelFilterProps, 'by' | 'onBy' | 'byText'>) {
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  const usual = byText === undefined ? (groupedBy(nodes, null) ?? 'none') : 'none';
  const roles = byText === undefined ? ['role'] : [];
  const names = [...new Set([...roles, ...labelNames(nodes), ...(by && by !== 'none' ? [by] : [])])];
  return (
    <label class="flex">
      <span class="dim fixed">{byText ?? 'Group by'}</span>
      <select value={by ?? usual} onChange={({ currentTarget: { value } }) => onBy(value === usual ? null : value)}>
        <option value="none">{byText === undefined ? 'nothing' : 'no label'}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function LabelChips({ labels, onLabels }: Pick<LabelFilterProps, 'labels' | 'onLabels'>) {
  if (labels.length === 0) return null;
  return (
    <ul class="chips" aria-label="Only nodes with these labels">
      {labels.map((label) => (
        <Condition key={label} text={label} onRemove={() => onLabels(labels.filter((other) => other !== label))} />
      ))}
    </ul>
  );
}

/** A label is added with Enter, or when the field is left. */
function LabelField({ offered, onAdd }: { offered: readonly string[]; onAdd: (label: string) => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const listId = useId();
  const add = (field: HTMLInputElement) => {
    const label = field.value.trim();
    const wrong = label === '' ? null : labelProblem(label);
    setProblem(wrong);
    if (wrong !== null || label === '') return;
    field.value = '';
    onAdd(label);
  };
  return (
    <>
      <TextInput
        class="mono"
        size={18}
        aria-label="Only nodes with a label"
        aria-invalid={problem !== null}
        placeholder="+ label zone=eu-*"
        list={listId}
        onText={() => setProblem(null)}
        onChange={({ currentTarget }) => add(currentTarget)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          // It may be part of a form.
          event.preventDefault();
          add(event.currentTarget);
        }}
      />
      <datalist id={listId}>
        {offered.map((label) => (
          <option key={label} value={label} />
        ))}
      </datalist>
      {problem && (
        <span class="field-problem" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
