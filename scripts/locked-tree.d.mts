export interface LockEntry {
  name?: string;
  version?: string;
  license?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  inBundle?: boolean;
  hasInstallScript?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

export function readLock(root: string): Record<string, LockEntry>;
export function nameOf(folder: string): string;
export function lockedTree(
  lock: Record<string, LockEntry>,
  names: readonly string[],
  without?: readonly string[],
): Map<string, string[]>;
export function othersIn(root: string, folder: string, field: 'dependencies' | 'devDependencies'): string[];
