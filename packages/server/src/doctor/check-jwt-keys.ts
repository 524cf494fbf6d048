import { errorMessage } from '@porthole/contract';
import { fetchKeySet, readKeyFile } from '../auth/key-set.ts';
import { isLoopbackHost } from '../settings/find-conflicts.ts';
import { type CheckContext, type CheckOutcome, ok, problem, warning } from './check-result.ts';

/** Whether the keys that JWTs are verified with can be loaded. */
export async function checkJwtKeys({ settings: { auth } }: CheckContext): Promise<CheckOutcome[]> {
  const { jwksUrl, jwksFile } = auth;
  if (jwksUrl === '' && jwksFile === '') return [];
  try {
    let unusable: readonly string[] = [];
    const onUnusable = (found: readonly string[]) => {
      unusable = found;
    };
    const { keys } = await (jwksFile === '' ? fetchKeySet(jwksUrl, onUnusable) : readKeyFile(jwksFile, onUnusable));
    const counted = `${jwksFile || jwksUrl} has ${keys.length} public ${keys.length === 1 ? 'key' : 'keys'}`;
    if (jwksFile === '' && isInClear(jwksUrl))
      return [
        warning(
          `${counted}, but over plain HTTP: they can be replaced in transit`,
          'set auth.jwks-url to an https URL',
        ),
      ];
    if (unusable.length > 0)
      return [
        warning(
          `${counted}, and others that cannot be used: ${unusable.join('; ')}`,
          'remove or replace them at your identity provider',
        ),
      ];
    return [ok(counted)];
  } catch (error) {
    const reason = errorMessage(error);
    const setting = jwksFile === '' ? 'auth.jwks-url' : 'auth.jwks-file';
    return [problem(`${setting}: ${reason}`, `set ${setting} to the JWKS of your identity provider`)];
  }
}

function isInClear(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopbackHost(hostname.replace(/^\[|\]$/g, ''));
}
