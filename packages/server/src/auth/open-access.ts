import type { Logger } from '../own-log/logger.ts';
import type { Settings } from '../settings/settings.ts';
import { StartError } from '../start-error.ts';
import { Access } from './access.ts';
import { CertificateCheck } from './certificate-check.ts';
import { createFailureLimit } from './failure-limit.ts';
import { JwtCheck, type KeySource } from './jwt-check.ts';
import { JwtKeys } from './jwt-keys.ts';
import { KeyFile } from './key-file.ts';
import { fetchKeySet } from './key-set.ts';
import type { ReloadedGroup } from './reloaded-files.ts';
import { readTokenFile } from './tokens.ts';

export interface OpenedAccess {
  access: Access;
  /** Files that are taken again when they change. */
  files: ReloadedGroup[];
  /** Why keys could not be fetched the last time; `undefined` where all is well. */
  keyFailure(): string | undefined;
}

/** Sets up the kinds of credentials that the settings name. Throws what keeps the node from starting. */
export async function openAccess(
  { auth }: Pick<Settings, 'auth'>,
  { log, memberToken }: { log: () => Logger; memberToken?: () => string | undefined },
): Promise<OpenedAccess> {
  const files: ReloadedGroup[] = [];
  const tokens = await openTokens(auth.tokenFile, files);
  const { keys, failure } = await openKeys(auth, { files, log });
  const access = new Access({
    tokens,
    jwt: keys && createJwtCheck(auth, keys),
    certificates: auth.clientCaFile === '' ? undefined : new CertificateCheck(auth.clientRoles),
    memberToken,
    countFailure: createFailureLimit(auth.maxFailuresPerMinute),
  });
  return { access, files, keyFailure: failure };
}

async function openTokens(path: string, files: ReloadedGroup[]) {
  if (path === '') return undefined;
  let tokens = await told('auth.token-file', readTokenFile(path));
  files.push({
    setting: 'auth.token-file',
    paths: [path],
    async reload() {
      tokens = await readTokenFile(path);
    },
  });
  return () => tokens;
}

interface OpenKeys {
  keys?: KeySource;
  failure(): string | undefined;
}

async function openKeys(
  { jwksFile, jwksUrl, jwksRefetchMs, jwksKeepMs }: Settings['auth'],
  { files, log }: { files: ReloadedGroup[]; log: () => Logger },
): Promise<OpenKeys> {
  if (jwksFile !== '') {
    const keys = await told('auth.jwks-file', KeyFile.open(jwksFile));
    files.push({ setting: 'auth.jwks-file', paths: [jwksFile], reload: () => keys.reload() });
    return { keys, failure: () => undefined };
  }
  if (jwksUrl === '') return { failure: () => undefined };
  const keys = new JwtKeys({
    fetchKeys: () => fetchKeySet(jwksUrl),
    refetchMs: jwksRefetchMs,
    keepMs: jwksKeepMs,
    onFailure: (error) => log().warn('jwks', 'the keys of JWTs cannot be fetched', { url: jwksUrl, error }),
  });
  return { keys, failure: () => keys.failure };
}

function createJwtCheck(auth: Settings['auth'], keys: KeySource): JwtCheck {
  return new JwtCheck({
    keys,
    issuer: auth.jwtIssuer,
    audience: auth.jwtAudience,
    algorithms: auth.jwtAlgorithms,
    clockToleranceMs: auth.jwtClockToleranceMs,
    nameClaim: auth.jwtNameClaim,
    rolesClaim: auth.jwtRolesClaim,
    roles: auth.jwtRoles,
  });
}

async function told<T>(setting: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw new StartError(`${setting}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
