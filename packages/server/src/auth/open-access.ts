import type { Logger } from '../own-log/logger.ts';
import type { Settings } from '../settings/settings.ts';
import { StartError } from '../start-error.ts';
import { describeFailure } from '../transport/request-log.ts';
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
  /** What an operator should know although nothing keeps the node from starting. */
  warnings: readonly string[];
  /** Why keys could not be fetched the last time; `undefined` where all is well. */
  keyFailure(): string | undefined;
}

/** Sets up the kinds of credentials that the settings name. Throws what keeps the node from starting. */
export async function openAccess(
  { auth }: Pick<Settings, 'auth'>,
  { log, memberToken }: { log: () => Logger; memberToken?: () => string | undefined },
): Promise<OpenedAccess> {
  const files: ReloadedGroup[] = [];
  const warnings: string[] = [];
  const tokens = await openTokens(auth.tokenFile, files);
  const { keys, failure } = await openKeys(auth, { files, log, warnings });
  const access = new Access({
    tokens,
    jwt: keys && createJwtCheck(auth, keys),
    certificates: auth.clientCaFile === '' ? undefined : new CertificateCheck(auth.clientRoles),
    memberToken,
    countFailure: createFailureLimit(auth.maxFailuresPerMinute),
    onError: warnOnce((error) =>
      log().error('auth', 'credentials could not be checked and were refused', { error: describeFailure(error) }),
    ),
  });
  return { access, files, warnings, keyFailure: failure };
}

async function openTokens(path: string, files: ReloadedGroup[]) {
  if (path === '') return undefined;
  let tokens = await wrapStartError('auth.token-file', readTokenFile(path));
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
  { files, log, warnings }: { files: ReloadedGroup[]; log: () => Logger; warnings: string[] },
): Promise<OpenKeys> {
  let isStarting = true;
  let reported = '';
  const onUnusable = (unusable: readonly string[]) => {
    const text = unusable.join('; ');
    const isNew = text !== reported;
    reported = text;
    if (text === '' || !isNew) return;
    if (isStarting) warnings.push(`keys of JWTs that cannot be used are left out: ${text}`);
    else log().warn('jwks', 'keys of JWTs that cannot be used are left out', { keys: unusable });
  };
  if (jwksFile !== '') {
    const keys = await wrapStartError('auth.jwks-file', KeyFile.open(jwksFile, onUnusable));
    isStarting = false;
    files.push({ setting: 'auth.jwks-file', paths: [jwksFile], reload: () => keys.reload() });
    return { keys, failure: () => undefined };
  }
  isStarting = false;
  if (jwksUrl === '') return { failure: () => undefined };
  const keys = new JwtKeys({
    fetchKeys: () => fetchKeySet(jwksUrl, onUnusable),
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

/** The first error of each kind: whoever causes one can cause it a thousand times a second. */
function warnOnce(warn: (error: unknown) => void): (error: unknown) => void {
  const seen = new Set<string>();
  return (error) => {
    const kind = error instanceof Error ? error.name : typeof error;
    if (seen.has(kind)) return;
    seen.add(kind);
    warn(error);
  };
}

async function wrapStartError<T>(setting: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw new StartError(`${setting}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
