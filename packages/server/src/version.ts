import { readFileSync } from 'node:fs';

/** The version of this package, from its own manifest: one level up from both the source and the built files. */
export function ownVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return manifest.version;
}
