import { type CheckOutcome, ok, problem, warning } from './check-result.ts';
import type { SystemFacts } from './system-facts.ts';

/** As in `engines` of the packages. */
const OLDEST = [20, 19] as const;

/** The newest major version that no longer gets security fixes. */
const UNSUPPORTED_MAJOR = 20;

export function checkNodeVersion({ nodeVersion }: SystemFacts): CheckOutcome {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const remedy = 'install a current LTS version of Node.js (https://nodejs.org)';
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    return problem(`${nodeVersion} is too old, ${OLDEST.join('.')} or newer is required`, remedy);
  if (major <= UNSUPPORTED_MAJOR) return warning(`${nodeVersion} works, but no longer gets security fixes`, remedy);
  return ok(nodeVersion);
}
