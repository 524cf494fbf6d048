import type { Action } from '../../state/actions.ts';
import { ALL_CONFIG, ALL_LOGS, type View } from '../../state/view.ts';

export interface PaletteEntry {
  /** What kind of thing it is, shown beside it. */
  group: 'Here' | 'Page' | 'Node' | 'Logs' | 'Configuration' | 'Console';
  name: string;
  keys?: string | undefined;
  target: { kind: 'go'; view: View } | { kind: 'run'; run: () => void };
}

export interface PaletteContents {
  /** Of the page that is shown. */
  actions: readonly Action[];
  /** Of every page. */
  shellActions: readonly Action[];
  nodeIds: readonly string[];
  configKeys: readonly string[];
}

/** Longer lists are not read: type more. */
export const SHOWN_ENTRIES = 50;

/** Everything one can go to or do, the nearest first. */
export function paletteEntries({ actions, shellActions, nodeIds, configKeys }: PaletteContents): PaletteEntry[] {
  const last15Min = { kind: 'last', spanMs: 900_000 } as const;
  return [
    ...actions.map((action) => actionEntry('Here', action)),
    goTo('Page', 'Cluster', { page: 'cluster' }),
    goTo('Page', 'Logs of all nodes', ALL_LOGS),
    goTo('Page', 'Errors of all nodes, last 15 min', { ...ALL_LOGS, range: last15Min, minLevel: 'ERROR' }),
    goTo('Page', 'Configuration: what differs', ALL_CONFIG),
    ...nodeIds.map((id) => goTo('Node', id, { page: 'node', id, tab: 'overview', text: '' })),
    ...nodeIds.map((id) => goTo('Logs', `Logs of ${id}`, { ...ALL_LOGS, sources: [{ node: id, log: null }] })),
    ...nodeIds.map((id) => goTo('Logs', `Log files of ${id}`, { page: 'node', id, tab: 'logs', text: '' })),
    ...nodeIds.map((id) =>
      goTo('Configuration', `Configuration of ${id}`, { page: 'node', id, tab: 'config', text: '' }),
    ),
    ...configKeys.map((key) => goTo('Configuration', key, { ...ALL_CONFIG, text: key, showExpected: true })),
    ...shellActions.map((action) => actionEntry('Console', action)),
  ];
}

function goTo(group: PaletteEntry['group'], name: string, view: View): PaletteEntry {
  return { group, name, target: { kind: 'go', view } };
}

function actionEntry(group: PaletteEntry['group'], { name, keys, run }: Action): PaletteEntry {
  return { group, name, keys, target: { kind: 'run', run } };
}
