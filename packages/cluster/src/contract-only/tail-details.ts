import type { CallOptions } from '@porthole/contract';
import { groupFamilies } from '@porthole/logs';
import type { LogFileDetails } from '@porthole/logs/types';
import type { MirrorDir } from './mirror-dir.ts';
import type { TailMirror } from './tail-mirror.ts';

const UNREAD = {
  format: 'unreadable',
  firstTimeMs: null,
  lastTimeMs: null,
  problem: 'the node serves only the ends of its files, and this one was not read',
} as const;

/** Details of all listed files. When one was changed shows in its newest record, else it is 0: not known. */
export async function tailDetails(
  mirror: TailMirror,
  dir: MirrorDir,
  options: CallOptions = {},
): Promise<LogFileDetails[]> {
  const known = new Map((await dir.logs.details(options)).map((file) => [file.name, file]));
  const problems = new Map(mirror.problems.map(({ file, detail }) => [file, detail]));
  const sizes = new Map(mirror.listed.map(({ name, size }) => [name, size]));
  return groupFamilies([...sizes.keys()]).flatMap(({ name: family, files }) =>
    files.map(({ name, state, compressed }): LogFileDetails => {
      const { format, firstTimeMs, lastTimeMs, problem } = known.get(name) ?? UNREAD;
      return {
        ...{ name, size: sizes.get(name) ?? 0, family, state, compressed, format },
        ...{ modifiedMs: lastTimeMs ?? 0, firstTimeMs, lastTimeMs },
        problem: problems.get(name) ?? problem,
      };
    }),
  );
}
