import { matchesPattern } from '@porthole/contract';
import type { SourceChoice } from '../../../state/view.ts';
import type { NodeLogs } from './node-logs.ts';

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

/** `broker-1 : lind-broker`. */
export function sourceName({ node, log }: SourceChoice): string {
  return log === null ? node : `${node} : ${log.kind === 'family' ? log.name.replace(/\.log$/, '') : log.name}`;
}
