import { LogError } from '../log-error.ts';
import { nearestNames } from '../nearest-names.ts';

/** Includes the names that may have been meant. */
export function familyNotFound(wanted: string, families: readonly string[]): LogError {
  const near = nearestNames(wanted, families).map((name) => JSON.stringify(name));
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  return new LogError('LOG_FAMILY_NOT_FOUND', `no log family named ${JSON.stringify(wanted)}${hint}`);
}
