import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onEnd } from './share.ts';

/** A fresh directory, by its real path, removed when the test ends. */
export function tempDir(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'porthole-')));
  onEnd(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
