import { errorMessage } from '@porthole/contract';
import type { Cleanup } from './cleanup.ts';
import { createContext, type Effort } from './context.ts';
import type { Group, Row } from './group.ts';
import { findPeers, type PeerName } from './peers.ts';
import type { Report } from './report.ts';

export interface GroupResult {
  name: string;
  seconds: number;
  rows: readonly Row[];
  /** Why it did not come to its end. */
  failure?: string;
}

export interface BenchOptions {
  groups: readonly Group[];
  effort: Effort;
  cleanup: Cleanup;
}

/** Everything of a report but the machine and the command. */
export interface BenchRun extends Pick<Report, 'commands' | 'files' | 'groups'> {
  peers: ReadonlyMap<PeerName, string>;
}

/** Runs one group after the other. One that fails, for want of a program or otherwise, does not keep the others from running. */
export async function runGroups({ groups, effort, cleanup }: BenchOptions): Promise<BenchRun> {
  const peers = new Map<PeerName, string>();
  const context = createContext({ cleanup, peers, effort });
  const results: GroupResult[] = [];
  for (const group of groups) {
    const startedAt = performance.now();
    context.log(`group ${group.name}`);
    let rows: readonly Row[] = [];
    let failure: string | undefined;
    try {
      for (const [name, path] of findPeers(group.needs)) peers.set(name, path);
      rows = await group.run(context);
    } catch (error) {
      if (cleanup.ended) throw error;
      failure = errorMessage(error);
    }
    await cleanup.run();
    const seconds = (performance.now() - startedAt) / 1000;
    context.log(`group ${group.name}: ${seconds.toFixed(0)} s${failure === undefined ? '' : `, failed: ${failure}`}`);
    results.push({ name: group.name, seconds, rows, ...(failure !== undefined && { failure }) });
  }
  return { groups: results, peers, commands: [...context.commands], files: context.files };
}

/** What makes the run fail, each as a line: groups that did not come to their end, and targets that were missed. */
export function listFailures(groups: readonly GroupResult[], { checksTargets }: { checksTargets: boolean }): string[] {
  return groups.flatMap(({ name, rows, failure }) => {
    const missed = rows.filter(({ target }) => checksTargets && target !== undefined && !target.isMet);
    const lines = missed.map(({ figure, porthole, ratio, target }) => {
      const value = ratio === undefined ? porthole : `ratio ${ratio.toFixed(3)}`;
      return `${name}: target missed: ${figure}: ${value}, not ${target?.text}`;
    });
    return failure === undefined ? lines : [...lines, `${name}: failed: ${failure}`];
  });
}
