import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What takes longest, about in this order: started last, each would run while the other cores have nothing left to do. Those
 * that keep a core busy stand between those that wait for browsers and programs, so that at any time some of both run.
 */
export const LONGEST = [
  'e2e/readme.test.ts',
  'e2e/fault-injection.test.ts',
  'e2e/packages.test.ts',
  'e2e/linux-packages.test.ts',
  'test/node-state.test.ts',
  'e2e/archive-away.test.ts',
  'e2e/tasks.test.ts',
  'packages/server/src/http/many-files.test.ts',
  'packages/server/src/cluster/paged-death.test.ts',
  'e2e/archive.test.ts',
  'e2e/attack-members.test.ts',
  'packages/logs/src/scan/worker-pool.test.ts',
  'packages/logs/src/search/odd-files.test.ts',
  'packages/logs/src/scan/block-borders.test.ts',
  'packages/server/src/cluster/black-holes.test.ts',
  'packages/archive/src/ship/log-shipper.test.ts',
  'packages/server/src/bundle/bundle-limits.test.ts',
  'e2e/console-access.test.ts',
  'e2e/cluster-story.test.ts',
  'packages/server/src/http/slow-clients.test.ts',
  'packages/logs/src/scan/slow-regex.test.ts',
  'packages/client/src/follow/follow.reconnects.test.ts',
  'e2e/console-first-look.test.ts',
  'e2e/cluster-departures.test.ts',
  'e2e/console-truth.test.ts',
  'e2e/cli-output.test.ts',
  'e2e/attack-connections.test.ts',
  'packages/archive/src/ship/failures.test.ts',
  'packages/logs/src/parse/formats/format-properties.test.ts',
  'e2e/follow-logrotate.test.ts',
  'e2e/console-address.test.ts',
  'e2e/cli-demo.test.ts',
];

/**
 * Files with a thread of their own first: a shared thread ends, with all that it has loaded, when such a file is next. Then
 * the longest, then all others that wait for programs, then by what the last run has shown, as usual: what is last is short
 * and keeps all cores busy.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const ranks = new Map(sorted.map((file) => [file, rankFile(file)]));
    return sorted.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  }
}

function rankFile({ moduleId, project }: TestSpecification): number {
  if (project.config.isolate) return -1;
  const rank = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`));
  if (rank >= 0) return rank;
  return moduleId.includes('/e2e/') ? LONGEST.length : LONGEST.length + 1;
}
