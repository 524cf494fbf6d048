import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { errorMessage } from '@porthole/contract';
import type { Identity } from '../auth/identity.ts';
import { fetchKeySet, readKeyFile } from '../auth/jwt-keys.ts';
import { readTokenFile } from '../auth/tokens.ts';
import { StartError } from '../errors.ts';
import { hasCredentials, hasJwtKeys, isLoopbackHost } from '../settings/find-conflicts.ts';
import type { Settings } from '../settings/settings.ts';
import { CERTIFICATE_BLOCKS, readTlsFiles } from '../tls-files.ts';
import { type CheckContext, type CheckOutcome, ok, problem, warning } from './check-result.ts';

/** Who can read from the node. A public address without credentials is already refused when settings are loaded. */
export async function checkAccess({ settings: { http, auth, tls } }: CheckContext): Promise<CheckOutcome[]> {
  if (isLoopbackHost(http.host)) {
    const who = hasCredentials(auth) ? `with ${describeCredentials(auth)}` : 'without credentials';
    return [ok(`${http.host} serves this machine only, ${who}`)];
  }
  if (!hasCredentials(auth))
    return [
      warning(
        `${http.host} serves everyone who can reach this machine, without credentials (auth.allow-anonymous)`,
        'set auth.token-file to a file made with "porthole token NAME >> FILE", or http.host to 127.0.0.1',
      ),
    ];
  if (tls.certFile === '')
    return [
      warning(
        `${http.host} requires ${describeCredentials(auth)}, but not TLS: tokens and logs can be read in transit`,
        'set tls.cert-file and tls.key-file, or put a TLS proxy in front of the node',
      ),
    ];
  return [ok(`${http.host} requires ${describeCredentials(auth)}, over TLS`)];
}

function describeCredentials(auth: Settings['auth']): string {
  const kinds = [
    ...(auth.tokenFile === '' ? [] : ['a token']),
    ...(hasJwtKeys(auth) ? ['a JWT'] : []),
    ...(auth.clientCaFile === '' ? [] : ['a certificate']),
  ];
  return kinds.join(' or ');
}

const OTHERS_WRITE = 0o002;
const OTHERS_READ = 0o004;

/** Empty in the usual case, where all tokens have all roles. */
function rolesText(owners: readonly Identity[]): string {
  const limited = owners.filter(({ roles }) => !roles.includes('admin')).length;
  return limited === 0 ? '' : `, ${limited} of them with limited roles`;
}

/** Whether the token file is valid, and who can read or change it. */
export async function checkTokens({ settings: { auth } }: CheckContext): Promise<CheckOutcome[]> {
  const file = auth.tokenFile;
  if (file === '') return [];
  try {
    const { owners } = await readTokenFile(file);
    const { mode } = await stat(file);
    const counted = `${file} contains ${owners.length} ${owners.length === 1 ? 'token' : 'tokens'}${rolesText(owners)}`;
    if (mode & OTHERS_WRITE)
      return [problem(`${counted}, and everyone on this machine can add one`, `chmod o-rw ${file}`)];
    if (mode & OTHERS_READ)
      return [warning(`${counted}, and everyone on this machine can read it`, `chmod o-r ${file}`)];
    return [ok(counted)];
  } catch (error) {
    const reason = errorMessage(error);
    return [
      problem(reason, `add a token with "porthole token NAME >> ${file}", or set auth.token-file to another file`),
    ];
  }
}

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

const DAY_MS = 86_400_000;

/** Certificates are usually renewed a month before they expire; one with less time left was forgotten. */
const SOON_DAYS = 21;

/** Whether certificate and key match, are valid now and are for this machine. */
export async function checkTls({ settings, system }: CheckContext): Promise<CheckOutcome[]> {
  const { certFile, keyFile } = settings.tls;
  if (certFile === '') return [];
  try {
    await readTlsFiles(settings);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return [
      problem(
        error.message,
        error.message.startsWith('auth.')
          ? 'set auth.client-ca-file to the certificates (PEM) of the client certificate authorities, readable for the node'
          : 'set tls.cert-file and tls.key-file to a PEM chain and its key, readable for the node',
      ),
    ];
  }
  const certificate = new X509Certificate(await readFile(certFile));
  const outcomes = [checkValidity(certificate, system.nowMs()), ...checkCertificateNames(certificate, settings)];
  outcomes.push(...(await checkClientCa(settings.auth.clientCaFile, system.nowMs())));
  if ((await stat(keyFile)).mode & OTHERS_READ)
    outcomes.push(warning(`everyone on this machine can read ${keyFile}`, `chmod o-r ${keyFile}`));
  return outcomes;
}

/** The authorities that sign client certificates. */
async function checkClientCa(file: string, nowMs: number): Promise<CheckOutcome[]> {
  if (file === '') return [];
  const blocks = (await readFile(file, 'latin1')).match(CERTIFICATE_BLOCKS) ?? [];
  const ended = blocks.map((block) => new X509Certificate(block)).filter(({ validTo }) => Date.parse(validTo) < nowMs);
  const counted = `${file} contains ${blocks.length} client certificate ${blocks.length === 1 ? 'authority' : 'authorities'}`;
  if (ended.length === 0) return [ok(counted)];
  return [
    problem(`${counted}, ${ended.length} of them expired`, 'replace it with the renewed certificate of the authority'),
  ];
}

function checkValidity({ validFrom, validTo }: X509Certificate, nowMs: number): CheckOutcome {
  const days = Math.floor((Date.parse(validTo) - nowMs) / DAY_MS);
  const renew = 'renew the certificate; a running node reloads the files';
  if (nowMs < Date.parse(validFrom))
    return problem(`the certificate is not valid before ${validFrom}`, 'check the clock of this machine');
  if (days < 0) return problem(`the certificate expired on ${validTo}`, renew);
  const detail = `key and certificate match, valid for ${days} more days`;
  return days < SOON_DAYS ? warning(detail, renew) : ok(detail);
}

/** Clients verify the name they connect to: the certificate should contain one of the node's names. */
function checkCertificateNames(certificate: X509Certificate, { node, http }: CheckContext['settings']): CheckOutcome[] {
  const names = certificate.subjectAltName ?? certificate.subject.replaceAll('\n', ', ');
  const known = [node.hostName || hostname(), node.hostIp, http.host].filter((name) => name !== '');
  const isNamed = known.some((name) => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)));
  if (isNamed) return [ok(`the certificate is for ${names}`)];
  return [
    warning(
      `the certificate is for ${names}, not for ${known.join(' or ')}`,
      'use a certificate for the name clients connect to, or set node.host-name to a name in it',
    ),
  ];
}
