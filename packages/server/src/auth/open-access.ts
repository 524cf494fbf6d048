import { errorMessage } from '@porthole/contract';
import { describeFailure, StartError } from '../errors.ts';
import type { Logger } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import { Access, createFailureLimit } from './access.ts';
import type { Authenticate } from './authenticate-hook.ts';
import { CertificateCheck } from './certificate-check.ts';
import { JwtCheck, type KeySource } from './jwt-check.ts';
import { fetchKeySet, JwtKeys, KeyFile } from './jwt-keys.ts';
import type { ReloadedGroup } from './reloaded-files.ts';
import { readTokenFile } from './tokens.ts';

export interface OpenedAccess {
  access: Access;
  /** Files that are reloaded when they change. */
  files: ReloadedGroup[];
  /** Warnings for the operator that do not keep the node from starting. */
  warnings: readonly string[];
  /** Why the last fetch of keys failed; `undefined` if it succeeded. */
  keyFailure(): string | undefined;
}

export interface OpenAccessDeps {
  log(): Logger;
  memberToken?(): string | undefined;
  /** Identifies clients without credentials of the node. */
  authenticate?: Authenticate | undefined;
}

/** Sets up the configured kinds of credentials. Throws if the node cannot start with them. */
export async function openAccess(
  { auth }: Pick<Settings, 'auth'>,
  { log, memberToken, authenticate }: OpenAccessDeps,
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
    authenticate,
    countFailure: createFailureLimit(auth.maxFailuresPerMinute),
    onError: warnRarely((error) =>
      log().error('auth', 'unexpected error while checking credentials: nothing is served without them', {
        error: describeFailure(error),
      }),
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
    if (isStarting) warnings.push(`ignoring unusable JWT keys: ${text}`);
    else log().warn('jwks', 'ignoring unusable JWT keys', { keys: unusable });
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
    onFailure: (error) => log().warn('jwks', 'cannot fetch JWT keys', { url: jwksUrl, error }),
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

const REPEAT_MS = 60_000;

/** Reports one error of each kind in a minute: a client could cause it a thousand times a second. */
function warnRarely(warn: (error: unknown) => void): (error: unknown) => void {
  const reportedMs = new Map<string, number>();
  return (error) => {
    const kind = error instanceof Error ? error.name : typeof error;
    const nowMs = performance.now();
    if (nowMs - (reportedMs.get(kind) ?? -REPEAT_MS) < REPEAT_MS) return;
    reportedMs.set(kind, nowMs);
    warn(error);
  };
}

async function wrapStartError<T>(setting: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw new StartError(`${setting}: ${errorMessage(error)}`, { cause: error });
  }
}
