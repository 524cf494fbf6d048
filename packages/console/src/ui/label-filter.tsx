import { useId, useState } from 'preact/hooks';
import { groupedBy, labelNames, labelProblem, offeredLabels } from '../state/labels.ts';
import { cluster } from '../state/resource.ts';
import { Condition } from './controls.tsx';
import { useStore } from './hooks.ts';
import { Icon } from './icon.tsx';
import { Menu } from './menu.tsx';

interface LabelFilterProps {
  /** Nodes with these labels are shown; empty: all. */
  labels: readonly string[];
  onLabels: (labels: readonly string[]) => void;
  /** The label that nodes are grouped by. */
  by: string | null;
  onBy: (by: string | null) => void;
  /** What grouping does there: `Group by`. */
  byText?: string;
}

/** Chooses nodes by their labels, and a label to group them by. Renders nothing if no node has labels. */
export function LabelFilter({ labels, onLabels, by, onBy, byText = 'Group by' }: LabelFilterProps) {
  const names = labelNames(useStore(cluster.state).value?.nodes ?? []);
  if (names.length === 0 && labels.length === 0 && by === null) return null;
  return (
    <div class="label-filter">
      <Labels labels={labels} onLabels={onLabels} />
      <BySelect
        text={byText}
        value={by ?? ''}
        choices={[
          ['', 'no label'],
          ...[...new Set([...names, ...(by ? [by] : [])])].map((name) => [name, name] as const),
        ]}
        onChange={(value) => onBy(value || null)}
      />
    </div>
  );
}

/** What nodes are grouped by: also their role, or nothing. */
export function GroupBy({ by, onBy }: Pick<LabelFilterProps, 'by' | 'onBy'>) {
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  const usual = groupedBy(nodes, null) ?? 'none';
  const names = [...new Set(['role', ...labelNames(nodes), ...(by && by !== 'none' ? [by] : [])])];
  return (
    <BySelect
      text="Group by"
      value={by ?? usual}
      choices={[['none', 'nothing'], ...names.map((name) => [name, name] as const)]}
      onChange={(value) => onBy(value === usual ? null : value)}
    />
  );
}

/** The same behind a button that says what is chosen. */
export function LabelMenu({ labels, onLabels, by, onBy }: LabelFilterProps) {
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  if (nodes.length === 1 && labels.length === 0) return null;
  const chosen = [...labels, ...(by === null ? [] : [by === 'none' ? 'not grouped' : `by ${by}`])].join(', ');
  return (
    <Menu
      label={`Nodes: ${chosen || 'all'}`}
      buttonClass="button is-quiet"
      button={
        <>
          <Icon name="facets" />
          {chosen || 'All nodes'}
        </>
      }
    >
      {() => (
        <div class="dim wraps label-filter menu-part">
          <Labels labels={labels} onLabels={onLabels} />
          <GroupBy by={by} onBy={onBy} />
        </div>
      )}
    </Menu>
  );
}

interface BySelectProps {
  text: string;
  value: string;
  choices: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

function BySelect({ text, value, choices, onChange }: BySelectProps) {
  return (
    <label class="flex">
      <span class="dim fixed">{text}</span>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {choices.map(([own, name]) => (
          <option key={own} value={own}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Labels({ labels, onLabels }: Pick<LabelFilterProps, 'labels' | 'onLabels'>) {
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  return (
    <>
      <LabelChips labels={labels} onLabels={onLabels} />
      <LabelField
        offered={offeredLabels(nodes).filter((label) => !labels.includes(label))}
        onAdd={(label) => onLabels([...labels.filter((other) => other !== label), label])}
      />
    </>
  );
}

/** The labels that nodes must have. */
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

/** A label is added with Enter, or when one of the list is chosen. */
function LabelField({ offered, onAdd }: { offered: readonly string[]; onAdd: (label: string) => void }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const listId = useId();
  const add = (label: string) => {
    const wrong = labelProblem(label);
    if (wrong === null) onAdd(label);
    setText(wrong === null ? '' : label);
    setProblem(wrong);
  };
  const take = (typed: string, isChosen: boolean) => {
    setProblem(null);
    if (isChosen && offered.includes(typed)) add(typed);
    else setText(typed);
  };
  return (
    <>
      <input
        class="mono"
        aria-label="Only nodes with a label"
        aria-invalid={problem !== null}
        placeholder="+ label zone=eu-*"
        list={listId}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => take(event.currentTarget.value, isReplacement(event))}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || text.trim() === '') return;
          event.preventDefault();
          add(text.trim());
        }}
      />
      <datalist id={listId}>
        {offered.map((label) => (
          <option key={label} value={label} />
        ))}
      </datalist>
      {problem ? (
        <span class="field-problem" role="alert">
          {problem}
        </span>
      ) : null}
    </>
  );
}

/** An entry of the list replaces the whole text; typed text comes letter by letter. */
function isReplacement(event: Event): boolean {
  return !(event instanceof InputEvent) || event.inputType === 'insertReplacementText';
}
