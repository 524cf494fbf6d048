import { checkAccess } from './check-access.ts';
import { checkClock } from './check-clock.ts';
import type { CheckContext } from './check-context.ts';
import { checkFollowing } from './check-following.ts';
import { checkJwtKeys } from './check-jwt-keys.ts';
import { checkLogDir } from './check-log-dir.ts';
import { checkLogFiles } from './check-log-files.ts';
import { checkOpenFiles } from './check-open-files.ts';
import { checkOwnLog } from './check-own-log.ts';
import { checkPorts } from './check-ports.ts';
import type { CheckOutcome } from './check-result.ts';
import { checkServiceConfig } from './check-service-config.ts';
import { checkTimeZone } from './check-time-zone.ts';
import { checkTls } from './check-tls.ts';
import { checkTokens } from './check-tokens.ts';

export interface Check {
  name: string;
  /** Returns one or more outcomes; none if there is nothing to check, like TLS that is not configured. */
  run(context: CheckContext): Promise<CheckOutcome[]>;
}

/** The checks that need valid settings, in the order they are reported. */
export const CHECKS: readonly Check[] = [
  { name: 'log directory', run: checkLogDir },
  { name: 'log files', run: checkLogFiles },
  { name: 'own log', run: checkOwnLog },
  { name: 'service configuration', run: checkServiceConfig },
  { name: 'ports', run: checkPorts },
  { name: 'access', run: checkAccess },
  { name: 'tokens', run: checkTokens },
  { name: 'JWT keys', run: checkJwtKeys },
  { name: 'TLS', run: checkTls },
  { name: 'clock', run: checkClock },
  { name: 'time zone', run: checkTimeZone },
  { name: 'open files', run: checkOpenFiles },
  { name: 'following', run: checkFollowing },
];
