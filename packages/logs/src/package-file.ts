import { existsSync } from 'node:fs';
import * as modules from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The name of the package that contains this code and the files it needs. */
const PUBLISHED_NAME = 'porthole';

/**
 * A file of this package: beside the module that needs it or, if a bundler has moved that module into another file, where
 * the package is installed. `moduleUrl` is empty in a bundle of CommonJS.
 */
export function packageFile(name: string, moduleUrl: string | undefined): URL {
  const beside = moduleUrl ? new URL(name, moduleUrl) : undefined;
  if (beside && existsSync(beside)) return beside;
  const from = [...(moduleUrl ? [moduleUrl] : []), join(process.cwd(), 'index.js')];
  for (const place of from) {
    const installed = resolveFrom(place);
    if (installed) return new URL(name, installed);
  }
  throw new Error(
    `porthole cannot find its file ${name}: a bundled program needs the package ${PUBLISHED_NAME} in its node_modules`,
  );
}

/** Not by its name: webpack takes `createRequire` for its own and warns of what it cannot resolve when it builds. */
function resolveFrom(place: string): URL | undefined {
  try {
    return pathToFileURL(modules.createRequire(place).resolve(PUBLISHED_NAME));
  } catch {
    return undefined; // not installed there, whatever the resolver calls that
  }
}
