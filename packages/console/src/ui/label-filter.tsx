import { useId, useState } from 'preact/hooks';
import { labelNames, labelProblem, offeredLabels } from '../state/labels.ts';
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

/** The same behind a button that says what is chosen. */
export function LabelMenu(props: LabelFilterProps) {
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  const { labels, by } = props;
  if (labelNames(nodes).length === 0 && labels.length === 0 && by === null) return null;
  const chosen = [...labels, ...(by === null ? [] : [`by ${by}`])].join(', ');
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
        <div class="dim wraps col menu-part">
          <LabelFilter {...props} />
        </div>
      )}
    </Menu>
  );
}

/** Chooses nodes by their labels, and a label to group them by. Renders nothing if no node has labels. */
export function LabelFilter({ labels, onLabels, by, onBy, byText = 'Group by' }: LabelFilterProps) {
  const nodes = useStore(cluster.state).value?.nodes ?? [];
  const names = labelNames(nodes);
  if (names.length === 0 && labels.length === 0 && by === null) return null;
  return (
    <div class="label-filter">
      {labels.length > 0 && (
        <ul class="chips" aria-label="Only nodes with these labels">
          {labels.map((label) => (
            <Condition key={label} text={label} onRemove={() => onLabels(labels.filter((other) => other !== label))} />
          ))}
        </ul>
      )}
      <LabelField
        offered={offeredLabels(nodes).filter((label) => !labels.includes(label))}
        onAdd={(label) => onLabels([...labels.filter((other) => other !== label), label])}
      />
      <label class="label-by">
        <span class="dim">{byText}</span>
        <select
          value={by ?? ''}
          onChange={({ currentTarget }) => onBy(currentTarget.value === '' ? null : currentTarget.value)}
        >
          <option value="">no label</option>
          {[...new Set([...names, ...(by === null ? [] : [by])])].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
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
