import { useEffect, useRef, useState } from 'preact/hooks';
import { configPairCommand } from '../../../config/config-command.ts';
import { navigation } from '../../../state/navigation.ts';
import { copyText } from '../../../state/notice.ts';
import type { ConfigView } from '../../../state/view.ts';
import { LoadedPair } from './loaded-pair.tsx';

interface PairSectionProps {
  view: ConfigView;
  /** Ids of those that can be chosen. */
  nodes: readonly string[];
  /** Two nodes worth seeing when none were chosen. */
  proposed: { left: string; right: string } | null;
}

/** Two nodes side by side: those that were chosen, or where nothing was, one like most and one that is not. */
export function PairSection({ view, nodes, proposed }: PairSectionProps) {
  // What was proposed first stays, also when a later answer would propose something else: someone may be reading it.
  const [first] = useState(proposed);
  const usual = first ?? proposed;
  const left = view.left ?? (view.right ? null : (usual?.left ?? null));
  const right = view.right ?? (view.left ? null : (usual?.right ?? null));
  const heading = useRef<HTMLHeadingElement>(null);
  const chosen = `${view.left} ${view.right}`;
  const last = useRef(chosen);
  useEffect(() => {
    if (last.current === chosen) return;
    last.current = chosen;
    // Chosen in the table above: the answer may be out of sight.
    heading.current?.scrollIntoView({ block: 'start' });
    heading.current?.focus({ preventScroll: true });
  }, [chosen]);
  const ids = [...new Set([...nodes, ...[left ?? [], right ?? []].flat()])].sort();
  // Asking for one would be asking for ever.
  const unknown = [left, right].filter((id) => id !== null && !nodes.includes(id));
  const go = (pair: { left: string | null; right: string | null }) => {
    last.current = `${pair.left} ${pair.right}`;
    navigation.go({ ...view, ...pair }, { replace: true });
  };
  return (
    <section class="pair-section" aria-labelledby="pair-heading">
      <div class="config-top">
        <h2 id="pair-heading" tabIndex={-1} ref={heading}>
          Side by side
        </h2>
        <div class="config-tools">
          <NodeChoice label="Left" ids={ids} value={left} onChoose={(id) => go({ left: id, right })} />
          <button
            type="button"
            class="button config-step"
            aria-label="Swap sides"
            title="Swap sides"
            disabled={left === null || right === null}
            onClick={() => go({ left: right, right: left })}
          >
            ⇄
          </button>
          <NodeChoice label="Right" ids={ids} value={right} onChoose={(id) => go({ left, right: id })} />
          {left !== null && right !== null && <CopyPair left={left} right={right} />}
        </div>
      </div>
      {unknown.length > 0 ? (
        <p class="config-empty" role="alert">
          {unknown.map((id) => `No node named "${id}"`).join(' · ')}: choose another.
        </p>
      ) : left !== null && right !== null ? (
        <LoadedPair key={`${left} ${right}`} left={left} right={right} />
      ) : (
        <p class="config-empty">Choose two nodes to see their configurations side by side.</p>
      )}
    </section>
  );
}

interface NodeChoiceProps {
  label: string;
  ids: readonly string[];
  value: string | null;
  onChoose: (id: string | null) => void;
}

function NodeChoice({ label, ids, value, onChoose }: NodeChoiceProps) {
  return (
    <select
      class="config-field"
      aria-label={`${label} node`}
      value={value ?? ''}
      onChange={(event) => onChoose(event.currentTarget.value || null)}
    >
      <option value="">{label} node …</option>
      {ids.map((id) => (
        <option key={id} value={id}>
          {id}
        </option>
      ))}
    </select>
  );
}

function CopyPair({ left, right }: { left: string; right: string }) {
  const command = configPairCommand(left, right, { origin: location.origin });
  return (
    <button type="button" class="button" title={command} onClick={() => void copyText(command, 'Command')}>
      Copy as CLI
    </button>
  );
}
