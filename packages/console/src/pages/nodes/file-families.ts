import type { ClusterLogFiles } from '@porthole/client';

export type NodeFile = ClusterLogFiles['files'][number];

/** A log: its live file and its rotated files. */
export interface FileFamily {
  name: string;
  /** The live file first, then newest first. */
  files: NodeFile[];
  sizeBytes: number;
  firstTimeMs: number | null;
  lastTimeMs: number | null;
}

/** Files by log; the most recently written first. */
export function fileFamilies(files: readonly NodeFile[]): FileFamily[] {
  return grouped(files, ({ family }) => family)
    .map(([name, own]) => toFamily(name, own))
    .sort((a, b) => (b.lastTimeMs ?? 0) - (a.lastTimeMs ?? 0) || a.name.localeCompare(b.name));
}

/** Families whose name, or the name of one of whose files, contains the text. */
export function matchingFamilies(families: readonly FileFamily[], text: string): FileFamily[] {
  const wanted = text.trim().toLowerCase();
  const fits = (name: string) => name.toLowerCase().includes(wanted);
  return families.flatMap((family) => {
    if (fits(family.name)) return [family];
    const files = family.files.filter(({ name }) => fits(name));
    return files.length > 0 ? [{ ...family, files }] : [];
  });
}

function toFamily(name: string, own: readonly NodeFile[]): FileFamily {
  const files = own.toSorted(
    (a, b) => Number(b.state === 'live') - Number(a.state === 'live') || newness(b) - newness(a),
  );
  const firsts = files.flatMap(({ firstTimeMs }) => firstTimeMs ?? []);
  const lasts = files.flatMap(({ lastTimeMs }) => lastTimeMs ?? []);
  return {
    name,
    files,
    sizeBytes: files.reduce((sum, { size }) => sum + size, 0),
    firstTimeMs: firsts.length > 0 ? Math.min(...firsts) : null,
    lastTimeMs: lasts.length > 0 ? Math.max(...lasts) : null,
  };
}

function newness({ lastTimeMs, modifiedMs }: NodeFile): number {
  return lastTimeMs ?? modifiedMs ?? 0;
}

function grouped(files: readonly NodeFile[], nameOf: (file: NodeFile) => string): [string, NodeFile[]][] {
  const groups = new Map<string, NodeFile[]>();
  for (const file of files) groups.set(nameOf(file), [...(groups.get(nameOf(file)) ?? []), file]);
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
