import type { ClusterLogFiles } from '@porthole/client';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { colourOf } from '../../state/cluster.ts';
import { Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import type { SourceChoice, ZoneName } from '../../state/view.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { FailureNote } from '../../ui/failure-note.tsx';
import { formatBytes, formatMoment } from '../../ui/format.ts';
import { Loading } from '../../ui/loading.tsx';
import { useResource } from '../../ui/use-resource.ts';
import { type LogFamily, nodeLogs } from './node-logs.ts';

export interface SourceChooserProps {
  isOpen: boolean;
  chosen: readonly SourceChoice[];
  zone: ZoneName;
  onClose: () => void;
  onChoose: (sources: readonly SourceChoice[]) => void;
}

/** The logs of all nodes, with their sizes and times, to choose from. */
export function SourceChooser(props: SourceChooserProps) {
  return (
    <Dialog title="Logs to show" class="source-chooser" isOpen={props.isOpen} onClose={props.onClose}>
      <Chooser {...props} />
    </Dialog>
  );
}

function Chooser({ chosen, zone, onChoose, onClose }: SourceChooserProps) {
  const files = useMemo(
    () => new Resource<ClusterLogFiles>((signal) => session.client.cluster.logFiles({}, { signal })),
    [],
  );
  const { value, failure, asOfMs } = useResource(files);
  const [picked, setPicked] = useState<readonly SourceChoice[]>(chosen);
  useEffect(() => setPicked(chosen), [chosen]);
  const toggle = (source: SourceChoice, isOn: boolean) =>
    setPicked(isOn ? [...picked, source] : picked.filter((other) => keyOf(other) !== keyOf(source)));
  const silent = value?.members.filter(({ outcome }) => outcome !== 'ok') ?? [];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChoose(picked);
      }}
    >
      {failure ? (
        <FailureNote what="The logs" failure={failure} asOfMs={asOfMs} onRetry={() => files.reload()} />
      ) : null}
      {value === null && !failure ? <Loading what="the logs" /> : null}
      {silent.length > 0 ? (
        <p class="field-problem">
          {silent.map(({ id, outcome }) => `${id}: ${outcome}`).join(' · ')}{' '}
          <button type="button" class="link-button" onClick={() => files.reload()}>
            retry
          </button>
        </p>
      ) : null}
      <div class="chooser-nodes">
        {nodeLogs(value?.files ?? []).map(({ node, families }) => (
          <fieldset key={node} class={`node-${colourOf(node)}`}>
            <legend>
              <i class="chip-dot" aria-hidden="true" /> <span class="chooser-node">{node}</span>
            </legend>
            {families.map((family) => (
              <FamilyChoice
                key={family.name}
                node={node}
                family={family}
                zone={zone}
                picked={picked}
                onToggle={toggle}
              />
            ))}
          </fieldset>
        ))}
      </div>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button button-primary">
          {picked.length === 0 ? 'Show all logs' : `Show ${picked.length} ${picked.length === 1 ? 'log' : 'logs'}`}
        </button>
      </div>
    </form>
  );
}

interface FamilyChoiceProps {
  node: string;
  family: LogFamily;
  zone: ZoneName;
  picked: readonly SourceChoice[];
  onToggle: (source: SourceChoice, isOn: boolean) => void;
}

function FamilyChoice({ node, family, zone, picked, onToggle }: FamilyChoiceProps) {
  const { name, rotated, bytes, firstMs, lastMs } = family;
  const source: SourceChoice = { node, log: { kind: 'family', name } };
  const isOn = picked.some((other) => keyOf(other) === keyOf(source));
  const nowMs = Date.now();
  const times = [firstMs, lastMs].map((timeMs) => (timeMs === null ? '?' : formatMoment(timeMs, zone, nowMs)));
  return (
    <label class="choice">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onToggle(source, currentTarget.checked)} />
      <span class="choice-name">
        {name}
        {rotated > 0 ? <span class="dim"> (+{rotated} rotated)</span> : null}
      </span>
      <span class="dim">{formatBytes(bytes)}</span>
      <span class="dim">{times.join(' – ')}</span>
    </label>
  );
}

function keyOf(source: SourceChoice): string {
  return JSON.stringify([source.node, source.log]);
}
