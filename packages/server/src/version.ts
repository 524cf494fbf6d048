import { readFileSync } from 'node:fs';

/** Set by the build of the package: the manifest beside a bundled program is that of the program. */
declare const PORTHOLE_VERSION: string | undefined;

/** The version of this package. In a checkout it is in its own manifest, one level up from the source and the built files. */
export function ownVersion(): string {
  if (typeof PORTHOLE_VERSION === 'string') return PORTHOLE_VERSION;
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return manifest.version;
}
