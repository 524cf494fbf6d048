import type { ClusterLogFiles } from '@porthole/client';

/** A log of a node: its live file and its rotated files. */
export interface LogFamily {
  name: string;
  /** Number of rotated files. */
  rotated: number;
  bytes: number;
  firstMs: number | null;
  lastMs: number | null;
}

export interface NodeLogs {
  node: string;
  families: LogFamily[];
}

type LogFile = ClusterLogFiles['files'][number];

/** The logs of each node, sorted by name. */
export function nodeLogs(files: readonly LogFile[]): NodeLogs[] {
  return grouped(files, ({ node }) => node).map(([node, own]) => ({
    node,
    families: grouped(own, ({ family }) => family).map(([name, members]) => toFamily(name, members)),
  }));
}

function grouped(files: readonly LogFile[], nameOf: (file: LogFile) => string): [string, LogFile[]][] {
  const groups = new Map<string, LogFile[]>();
  for (const file of files) groups.set(nameOf(file), [...(groups.get(nameOf(file)) ?? []), file]);
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function toFamily(name: string, files: readonly LogFile[]): LogFamily {
  const times = files
    .flatMap(({ firstTimeMs, lastTimeMs }) => [firstTimeMs, lastTimeMs])
    .filter((time) => time !== null);
  return {
    name,
    rotated: files.filter(({ state }) => state === 'rotated').length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    firstMs: times.length === 0 ? null : Math.min(...times),
    lastMs: times.length === 0 ? null : Math.max(...times),
  };
}
