import { access, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from './has-code.ts';
import type { RotatedNames } from './rotated-name.ts';

interface MoveAside {
  readonly dir: string;
  readonly fileName: string;
  readonly names: RotatedNames;
  readonly atMs: number;
}

/**
 * Renames the live file to the first free rotated name at or after `atMs`; returns the time in that name.
 * The name is reserved by creating it exclusively, because rename alone would silently replace a file.
 */
export async function moveAside({ dir, fileName, names, atMs }: MoveAside): Promise<number> {
  for (let stampMs = atMs; ; stampMs += 1) {
    const target = join(dir, names.plainName(stampMs));
    if (!(await reserve(target))) continue;
    try {
      await rename(join(dir, fileName), target);
      return stampMs;
    } catch (thrown) {
      await unlink(target);
      throw thrown;
    }
  }
}

async function reserve(target: string): Promise<boolean> {
  if (await exists(`${target}.gz`)) return false;
  try {
    await (await open(target, 'wx', 0o640)).close();
    return true;
  } catch (thrown) {
    if (hasCode(thrown, 'EEXIST')) return false;
    throw thrown;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
