import type { ClusterLogFiles } from '@porthole/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { nodeColour } from '../../../state/cluster.ts';
import { Resource } from '../../../state/resource.ts';
import { session } from '../../../state/session.ts';
import type { SourceChoice, ZoneName } from '../../../state/view.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { formatBytes, formatShortTime } from '../../../ui/format.ts';
import { useResource } from '../../../ui/hooks.ts';
import { FailureNote, Loading } from '../../../ui/notes.tsx';
import { type LogFamily, nodeLogs } from './node-logs.ts';
import { isFamilyPicked, isNodePicked, pickFamily, pickNode, sourceName, unlistedChoices } from './picked-sources.ts';

export interface SourceChooserProps {
  isOpen: boolean;
  chosen: readonly SourceChoice[];
  zone: ZoneName;
  onClose: () => void;
  onChoose: (sources: readonly SourceChoice[]) => void;
}

/** The logs of all nodes, with sizes and times, to choose from. */
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
  const logs = nodeLogs(value?.files ?? []);
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
        <Choice
          name="All logs of all nodes"
          isOn={picked.length === 0}
          onToggle={(isOn) => setPicked(isOn ? [] : logs.map(({ node }) => ({ node, log: null })))}
        />
        {value ? (
          <OtherChoices
            choices={unlistedChoices(picked, logs)}
            onRemove={(choice) => setPicked(picked.filter((other) => other !== choice))}
          />
        ) : null}
        {logs.map(({ node, families }) => (
          <fieldset key={node} class={`node-${nodeColour(node)}`}>
            <legend>
              <i class="chip-dot" aria-hidden="true" /> <span class="chooser-node">{node}</span>
            </legend>
            <Choice
              name={`All logs of ${node}`}
              isOn={isNodePicked(picked, node)}
              onToggle={(isOn) => setPicked(pickNode(picked, logs, node, isOn))}
            />
            {families.map((family) => (
              <Choice
                key={family.name}
                name={family.name}
                note={family.rotated > 0 ? `(+${family.rotated} rotated)` : undefined}
                isOn={isFamilyPicked(picked, node, family.name)}
                onToggle={(isOn) => setPicked(pickFamily(picked, logs, { node, family: family.name }, isOn))}
              >
                <FamilyFacts family={family} zone={zone} />
              </Choice>
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

interface ChoiceProps {
  name: string;
  /** Shown after the name. */
  note?: string | undefined;
  isOn: boolean;
  onToggle: (isOn: boolean) => void;
  children?: ComponentChildren;
}

function Choice({ name, note, isOn, onToggle, children }: ChoiceProps) {
  return (
    <label class="choice">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onToggle(currentTarget.checked)} />
      <span class="choice-name">
        {name}
        {note ? <span class="dim"> {note}</span> : null}
      </span>
      {children}
    </label>
  );
}

/** Single files and selections that do not exist: they must be visible to be deselected. */
function OtherChoices({
  choices,
  onRemove,
}: {
  choices: readonly SourceChoice[];
  onRemove: (choice: SourceChoice) => void;
}) {
  if (choices.length === 0) return null;
  return (
    <fieldset>
      <legend>Also chosen</legend>
      {choices.map((choice) => (
        <Choice key={sourceName(choice)} name={sourceName(choice)} isOn={true} onToggle={() => onRemove(choice)}>
          <span class="dim">{choice.log?.kind === 'file' ? 'one file' : 'not found'}</span>
        </Choice>
      ))}
    </fieldset>
  );
}

function FamilyFacts({ family, zone }: { family: LogFamily; zone: ZoneName }) {
  const { bytes, firstMs, lastMs } = family;
  const nowMs = Date.now();
  const times = [firstMs, lastMs].map((timeMs) => (timeMs === null ? '?' : formatShortTime(timeMs, zone, nowMs)));
  return (
    <>
      <span class="dim">{formatBytes(bytes)}</span>
      <span class="dim">{times.join(' – ')}</span>
    </>
  );
}
