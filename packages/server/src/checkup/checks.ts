import { lookAtAccess } from './access.ts';
import { lookAtClock } from './clock.ts';
import type { Look } from './finding.ts';
import { lookAtFollowing } from './following.ts';
import { lookAtJwtKeys } from './jwt-keys.ts';
import { lookAtLogDir } from './log-dir.ts';
import { lookAtLogFiles } from './log-files.ts';
import { lookAtOpenFiles } from './open-files.ts';
import { lookAtOwnLog } from './own-log.ts';
import { lookAtPorts } from './ports.ts';
import { lookAtServiceConfig } from './service-config.ts';
import type { Subject } from './subject.ts';
import { lookAtTimeZone } from './time-zone.ts';
import { lookAtTls } from './tls.ts';
import { lookAtTokens } from './tokens.ts';

export interface Check {
  name: string;
  /** One or more findings; none where the subject does not exist, like TLS that is not set up. */
  look(subject: Subject): Promise<Look[]>;
}

/** Everything that is looked at with valid settings, in the order it is told. */
export const CHECKS: readonly Check[] = [
  { name: 'log directory', look: lookAtLogDir },
  { name: 'log files', look: lookAtLogFiles },
  { name: 'own log', look: lookAtOwnLog },
  { name: 'service configuration', look: lookAtServiceConfig },
  { name: 'ports', look: lookAtPorts },
  { name: 'access', look: lookAtAccess },
  { name: 'tokens', look: lookAtTokens },
  { name: 'JWT keys', look: lookAtJwtKeys },
  { name: 'TLS', look: lookAtTls },
  { name: 'clock', look: lookAtClock },
  { name: 'time zone', look: lookAtTimeZone },
  { name: 'open files', look: lookAtOpenFiles },
  { name: 'following', look: lookAtFollowing },
];
