import type { ClusterLogFiles } from '@porthole/client';
import { matchesPattern } from '@porthole/contract';
import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { groupByLabel, hasLabels } from '../../state/labels.ts';
import { cluster, Resource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { type SourceChoice, sourceName, type ZoneName } from '../../state/view.ts';
import { Button, LinkButton, NodeDot } from '../../ui/controls.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatBytes, formatCounted, formatShortTime } from '../../ui/format.ts';
import { useResource, useStore } from '../../ui/hooks.ts';
import { LabelFilter } from '../../ui/label-filter.tsx';
import { ResourceNote } from '../../ui/notes.tsx';
import { type FileFamily, logsByNode, type NodeLogs } from '../nodes/file-families.ts';

interface SourceChooserProps {
  isOpen: boolean;
  chosen: readonly SourceChoice[];
  /** Only nodes with these labels. */
  labels: readonly string[];
  zone: ZoneName;
  onClose: () => void;
  onChoose: (choice: { sources: readonly SourceChoice[]; labels: readonly string[] }) => void;
}

/** The logs of all nodes, with sizes and times, to choose from. */
export function SourceChooser(props: SourceChooserProps) {
  return (
    <Dialog title="Logs to show" class="source-chooser" isOpen={props.isOpen} onClose={props.onClose}>
      <Chooser {...props} />
    </Dialog>
  );
}

function Chooser({ chosen, labels, zone, onChoose, onClose }: SourceChooserProps) {
  const files = useMemo(
    () => new Resource<ClusterLogFiles>((signal) => session.client.cluster.logFiles({}, { signal })),
    [],
  );
  const { value } = useResource(files);
  const [picked, setPicked] = useState<readonly SourceChoice[]>(chosen);
  const [wanted, setWanted] = useState(labels);
  const [by, setBy] = useState<string | null>(null);
  useEffect(() => setPicked(chosen), [chosen]);
  useEffect(() => setWanted(labels), [labels]);
  const nodes = new Map(useStore(cluster.state).value?.nodes.map((node) => [node.id, node]));
  const all = logsByNode(value?.files ?? []).map((own) => {
    const { labels: has = {}, role = '' } = nodes.get(own.node) ?? {};
    return { ...own, id: own.node, labels: has, role };
  });
  const logs = all.filter((own) => hasLabels(own, wanted));
  const silent = value?.members.filter(({ outcome }) => outcome !== 'ok') ?? [];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChoose({ sources: picked, labels: wanted });
      }}
    >
      <ResourceNote resource={files} what="The logs" />
      {silent.length > 0 ? (
        <p class="field-problem">
          {silent.map(({ id, outcome }) => `${id}: ${outcome}`).join(' · ')}{' '}
          <LinkButton onClick={() => files.reload()}>retry</LinkButton>
        </p>
      ) : null}
      <LabelFilter labels={wanted} onLabels={setWanted} by={by} onBy={setBy} />
      <div class="chooser-nodes">
        <Choice
          name={wanted.length === 0 ? 'All logs of all nodes' : `All logs of all nodes with ${wanted.join(', ')}`}
          isOn={picked.length === 0}
          onToggle={(isOn) => setPicked(isOn ? [] : logs.map(({ node }) => ({ node, log: null })))}
        />
        {value ? (
          <OtherChoices
            choices={unlistedChoices(picked, all)}
            onRemove={(choice) => setPicked(picked.filter((other) => other !== choice))}
          />
        ) : null}
        {value && logs.length === 0 ? <p class="dim">No node has these labels.</p> : null}
        {groupByLabel(logs, by).map((group) => (
          <Fragment key={group.label}>
            {by === null ? null : (
              <Choice
                name={`All logs of the nodes ${group.label === null ? `without ${by}` : `with ${group.label}`}`}
                note={`(${group.nodes.length})`}
                isOn={group.nodes.every(({ node }) => isNodePicked(picked, node))}
                onToggle={(isOn) => setPicked(pickNodes(picked, all, group.nodes, isOn))}
              />
            )}
            {group.nodes.map((own) => (
              <NodeChoices key={own.node} {...{ own, all, picked, zone, setPicked }} />
            ))}
          </Fragment>
        ))}
      </div>
      <div class="wrap dialog-buttons">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" class="is-primary">
          {picked.length === 0 ? 'Show all logs' : `Show ${formatCounted(picked.length, 'log')}`}
        </Button>
      </div>
    </form>
  );
}

interface NodeChoicesProps {
  own: NodeLogs;
  all: readonly NodeLogs[];
  picked: readonly SourceChoice[];
  zone: ZoneName;
  setPicked: (picked: readonly SourceChoice[]) => void;
}

/** The logs of one node. */
function NodeChoices({ own: { node, families }, all, picked, zone, setPicked }: NodeChoicesProps) {
  return (
    <fieldset>
      <legend>
        <NodeDot id={node} /> <span>{node}</span>
      </legend>
      <Choice
        name={`All logs of ${node}`}
        isOn={isNodePicked(picked, node)}
        onToggle={(isOn) => setPicked(pickNode(picked, all, node, isOn))}
      />
      {families.map((family) => (
        <Choice
          key={family.name}
          name={family.name}
          note={rotatedText(family)}
          isOn={isFamilyPicked(picked, node, family.name)}
          onToggle={(isOn) => setPicked(pickFamily(picked, all, { node, family: family.name }, isOn))}
        >
          <FamilyFacts family={family} zone={zone} />
        </Choice>
      ))}
    </fieldset>
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
      <span class="wraps">
        {name}
        {note ? <span class="dim"> {note}</span> : null}
      </span>
      {children}
    </label>
  );
}

function rotatedText({ files }: FileFamily): string | undefined {
  const count = files.filter(({ state }) => state === 'rotated').length;
  return count > 0 ? `(+${count} rotated)` : undefined;
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

function FamilyFacts({ family: { files, sizeBytes }, zone }: { family: FileFamily; zone: ZoneName }) {
  const nowMs = Date.now();
  const known = files.flatMap(({ firstTimeMs, lastTimeMs }) => [firstTimeMs ?? [], lastTimeMs ?? []].flat());
  const times = [Math.min(...known), Math.max(...known)].map((timeMs) =>
    known.length === 0 ? '?' : formatShortTime(timeMs, zone, nowMs),
  );
  return (
    <>
      <span class="dim">{formatBytes(sizeBytes)}</span>
      <span class="dim">{times.join(' – ')}</span>
    </>
  );
}

/* The selection in the list of logs. Empty: all logs of all nodes. */

type Choices = readonly SourceChoice[];

/** Whether a selection includes all logs of a node, by id or pattern. */
export function isNodePicked(picked: Choices, node: string): boolean {
  return picked.some((choice) => choice.log === null && matchesPattern(node, choice.node));
}

/** Whether a selection includes a whole log, alone or with others. */
export function isFamilyPicked(picked: Choices, node: string, family: string): boolean {
  return isNodePicked(picked, node) || picked.some((choice) => isFamilyChoice(choice, node, family));
}

export function pickNode(picked: Choices, logs: readonly NodeLogs[], node: string, isOn: boolean): Choices {
  const others = named(picked, logs).filter((choice) => choice.node !== node);
  return isOn ? [...others, { node, log: null }] : others;
}

/** The nodes of a group, all at once. */
export function pickNodes(
  picked: Choices,
  logs: readonly NodeLogs[],
  nodes: readonly Pick<NodeLogs, 'node'>[],
  isOn: boolean,
): Choices {
  return nodes.reduce<Choices>((choices, { node }) => pickNode(choices, logs, node, isOn), picked);
}

export function pickFamily(
  picked: Choices,
  logs: readonly NodeLogs[],
  { node, family }: { node: string; family: string },
  isOn: boolean,
): Choices {
  const choice: SourceChoice = { node, log: { kind: 'family', name: family } };
  const others = named(picked, logs).filter((other) => !isFamilyChoice(other, node, family));
  if (isOn) return [...others, choice];
  if (!isNodePicked(others, node)) return others;
  // All logs of the node except this one.
  const families = logs.find((own) => own.node === node)?.families ?? [];
  const left = families.filter(({ name }) => name !== family);
  return [
    ...others.filter((other) => other.node !== node),
    ...left.map(({ name }): SourceChoice => ({ node, log: { kind: 'family', name } })),
  ];
}

/** Selections that are not in the list: single files, and nodes or logs that do not exist. */
export function unlistedChoices(picked: Choices, logs: readonly NodeLogs[]): Choices {
  return picked.filter(
    ({ node, log }) =>
      !logs.some(
        (own) =>
          matchesPattern(own.node, node) &&
          (log === null || (log.kind === 'family' && own.families.some(({ name }) => name === log.name))),
      ),
  );
}

/** Replaces patterns by the nodes they match, so that one can be deselected. A pattern without a match stays. */
function named(picked: Choices, logs: readonly NodeLogs[]): SourceChoice[] {
  const choices = picked.flatMap((choice) => {
    const nodes = logs.filter(({ node }) => matchesPattern(node, choice.node));
    return nodes.length === 0 ? [choice] : nodes.map(({ node }) => ({ ...choice, node }));
  });
  return [...new Map(choices.map((choice) => [JSON.stringify(choice), choice])).values()];
}

function isFamilyChoice(choice: SourceChoice, node: string, family: string): boolean {
  return choice.log?.kind === 'family' && choice.log.name === family && matchesPattern(node, choice.node);
}
