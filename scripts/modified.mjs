import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The files in a folder and all below it; a file is only itself. */
export function filesBelow(path) {
  if (!statSync(path).isDirectory()) return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** Whether a file is there and was written after all of these. */
export function isNewerThan(path, sources) {
  if (!existsSync(path)) return false;
  const { mtimeMs } = statSync(path);
  return sources.every((source) => statSync(source).mtimeMs < mtimeMs);
}
