import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, in this order. Started last, each would run while the other cores have nothing left to do. */
export const LONGEST = [
  'test/node-state.test.ts',
  'e2e/readme.test.ts',
  'e2e/packages.test.ts',
  'packages/logs/src/scan/block-borders.test.ts',
  'e2e/console-access.test.ts',
  'e2e/console-logs-find.test.ts',
  'packages/logs/src/scan/slow-regex.test.ts',
  'e2e/cluster-members.test.ts',
  'packages/server/src/bundle/bundle-limits.test.ts',
  'e2e/console-truth.test.ts',
  'e2e/console-logs.test.ts',
  'packages/logs/src/parse/formats/format-properties.test.ts',
  'e2e/cluster-departures.test.ts',
  'test/node-state.properties.test.ts',
  'e2e/console-keys.test.ts',
  'packages/logs/src/follow/follow.torture.test.ts',
  'e2e/console-first-look.test.ts',
  'e2e/cluster-story.test.ts',
  'packages/logs/src/search/coverage/coverage.properties.test.ts',
  'e2e/console-address.test.ts',
  'packages/server/src/bundle/bundle.test.ts',
  'e2e/attack-members.test.ts',
  'packages/cluster/src/contract-only/contract-node.test.ts',
  'e2e/cli-nodes.test.ts',
  'packages/server/src/grpc/streams.test.ts',
  'e2e/console-workspace.test.ts',
  'e2e/process.test.ts',
  'e2e/console-logs-large.test.ts',
  'e2e/follow-logrotate.test.ts',
];

/**
 * Files with a thread of their own first: a shared thread ends, with all that it has loaded, when such a file is next. Then
 * the longest, then by what the last run has shown, as usual.
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
  return rank < 0 ? LONGEST.length : rank;
}
