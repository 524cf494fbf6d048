import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { isRole, LABEL_TEXT, MEMBER_ID, MEMBER_ROLE, parseLabel, ROLES } from '@porthole/contract';
import { parseUnitName, UNIT_NAMES } from '../journal/unit-name.ts';
import { defineKind, type SettingKind } from './setting-kinds.ts';

/** The longest path Linux accepts; no setting is longer. */
const MAX_TEXT = 4096;

/** Control characters end lines and cut C strings; lone surrogates cannot be written to a file. */
const UNWRITABLE = /[\p{Cc}\p{Cs}]/u;

const HOST_NAME = /^(?=.{1,253}\.?$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/i;

/** Only asymmetric algorithms: a verifier cannot sign. Shared secrets (HS*) and `none` are not supported. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** Types of names in a certificate that rules can match. */
const CERTIFICATE_NAMES = ['CN:', 'DNS:', 'URI:', 'EMAIL:', 'IP:'];

const ROLES_TEXT = `roles are ${ROLES.join(', ')}`;

/** Strings in every source. `parse` returns the value, `true` for the text as it is, `false` to refuse it. */
function textKind(
  noun: string,
  accepted: string,
  parse: (given: string, baseDir: string) => string | boolean,
): SettingKind<string> {
  return defineKind({
    noun,
    accepted,
    hasType: isString,
    parse: (given, baseDir) => {
      const parsed = given.length <= MAX_TEXT && !UNWRITABLE.test(given) && parse(given, baseDir);
      if (parsed === false) return undefined;
      return parsed === true ? given : parsed;
    },
  });
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

export function choice<const T extends string>(options: readonly T[]): SettingKind<T> {
  return defineKind({
    name: `one of ${options.join(', ')}`,
    noun: 'a choice',
    accepted: `one of ${options.map((option) => `"${option}"`).join(', ')}`,
    hasType: isString,
    parse: (given) => options.find((option) => option === given.toLowerCase()),
  });
}

/** The kinds of strings, with what they accept. */
// biome-ignore format: a table, one or two lines per row
export const text = {
  string: textKind('a string', `at most ${MAX_TEXT} characters, no control characters`, () => true),
  /** An empty pattern would match no key, but looks as if it matched all. */
  keyPattern: textKind('a key pattern', 'the name of a key, "*" stands for any characters and "?" for one', (given) => given.trim() !== ''),
  filePattern: textKind('a file pattern', 'the name of a file, "*" stands for any characters and "?" for one; no "/"',
    (given) => given.trim() !== '' && !given.includes('/')),
  /** Absolute once read; empty stays empty. A "~" taken literally would quietly create a directory of that name. */
  path: textKind('a path', `at most ${MAX_TEXT} characters, no control characters; "~" is not expanded`,
    (given, baseDir) => given === '' || (!/^~(?:\/|$)/.test(given) && resolve(baseDir, given))),
  basePath: textKind('a base path', 'like "/ops" or "/ops/logs": letters, digits and "._~-" between slashes, or ""', parseBasePath),
  host: textKind('a host', 'a name or an IP address, without scheme and port', parseHost),
  ip: textKind('an IP address', 'one that other machines can reach, or ""',
    (given) => given === '' || (isIP(given) !== 0 && !/^[0:.]+$/.test(given))),
  /** A network members may be in. */
  network: textKind('a network', 'an address and a prefix length, like "10.0.0.0/8" or "fd00::/8"',
    (given) => isNetwork(given) && given.toLowerCase()),
  timeZone: textKind('a time zone', 'an IANA name like "Europe/Berlin", or ""', (given) => given === '' || isZone(given)),
  origin: textKind('an origin', 'like "https://ops.example.org", without a path, or "*"',
    (given) => given === '*' || parseOrigin(given)),
  /** Where the keys of JWTs are fetched. */
  keysUrl: textKind('a URL', 'like "https://id.example.org/keys", http or https, without a user and a password, or ""',
    (given) => given === '' || (/^https?:\/\/[^@\\\s#]+$/i.test(given) && URL.canParse(given))),
  algorithm: textKind('a signature algorithm with a public key',
    `one of ${ALGORITHMS.join(', ')}; never "none" or a shared secret`, (given) => ALGORITHMS.includes(given)),
  /** Its full name: `nginx` is `nginx.service`. */
  unitName: textKind('a systemd unit', UNIT_NAMES, (given) => parseUnitName(given) ?? false),
  claimPath: textKind('a claim', 'the name of a claim, like "groups", or a path to one, like "realm_access.roles"',
    (given) => /^[^.\s]+(?:\.[^.\s]+){0,7}$/.test(given)),
  roleRule: textKind('a role rule', `like "ops-*=viewer+config", "*" stands for any characters; ${ROLES_TEXT}`, isRoleRule),
  certificateRule: textKind('a certificate rule',
    `like "CN:ops-*=viewer" or "DNS:*.example.org=admin", with ${CERTIFICATE_NAMES.join(' ')}; ${ROLES_TEXT}`,
    (given) => CERTIFICATE_NAMES.some((type) => given.startsWith(type) && isRoleRule(given.slice(type.length)))),
  clusterName: textKind('a cluster name', '1 to 64 letters, digits, dots, dashes and underscores',
    (given) => /^[A-Za-z0-9._-]{1,64}$/.test(given)),
  /** Of ClickHouse: safe in URLs, file names and SQL. */
  databaseName: textKind('a name', '1 to 64 letters, digits and underscores, or ""', (given) => /^[A-Za-z0-9_]{0,64}$/.test(given)),
  role: textKind('a role', '1 to 32 letters, digits, dashes and underscores', (given) => MEMBER_ROLE.test(given)),
  label: textKind('a label', LABEL_TEXT, (given) => parseLabel(given) !== undefined),
  memberId: textKind('a member id', '1 to 128 letters, digits and ".:_-", or ""', (given) => given === '' || isMemberId(given)),
  memberAddress: textKind('a member', 'a URL like "http://10.0.0.7:7300" or "http://10.0.0.7:8080/ops", or "ID=URL", without a query, a user and a password',
    parseMember),
  memberZone: textKind('a zone of members', 'the id of a member, "*" stands for any characters, and an IANA name, like "lindb-*=Asia/Shanghai"',
    (given) => parseMemberZone(given) !== undefined),
  /** Of a registry. */
  endpoint: textKind('a URL', 'like "http://10.0.0.7:2379", without a path, a user and a password', parseEndpoint),
};

/** Without a slash at the end. `.` and `..` have a meaning in paths. */
function parseBasePath(given: string): string | false {
  const path = given.replace(/\/$/, '');
  return /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)*$/.test(path) && path;
}

/** Lower case, IPv6 without brackets. */
function parseHost(given: string): string | false {
  const bare = /^\[(.*)\]$/.exec(given)?.[1];
  if (bare !== undefined) return isIP(bare) === 6 && bare.toLowerCase();
  // No host name ends in a number: this is a mistyped address, which would be resolved as a name.
  const mistyped = /(?:^|\.)\d+\.?$/.test(given);
  return (isIP(given) !== 0 || (HOST_NAME.test(given) && !mistyped)) && given.toLowerCase();
}

/** The URL of a member, optionally with its id: `broker-1=https://10.0.0.7:7300`. */
function parseMember(given: string): string | false {
  const [, id, url = ''] = /^(?:([^=/]*)=)?(.*)$/s.exec(given) ?? [];
  const [, origin = '', path = ''] = /^(https?:\/\/[^/]*)(.*)$/is.exec(url) ?? [];
  const [endpoint, basePath] = [parseOrigin(origin), parseBasePath(path)];
  if (endpoint === false || basePath === false) return false;
  const address = endpoint + basePath;
  if (id === undefined) return address;
  return isMemberId(id) && `${id}=${address}`;
}

/** The ids of members and their zone. */
export function parseMemberZone(given: string): { members: string; zone: string } | undefined {
  const [, members = '', zone = ''] = /^([^=]*)=(.*)$/s.exec(given) ?? [];
  return isMemberId(members.replace(/[*?]/g, '-')) && isZone(zone) ? { members, zone } : undefined;
}

function isZone(name: string): boolean {
  // The first use of Intl takes a tenth of the start of a node.
  if (name === 'UTC') return true;
  // Newer engines also accept offsets like "+01:00"; a file must mean the same on each of them.
  if (!/^[a-z]/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return false;
  }
}

function isRoleRule(given: string): boolean {
  const equals = given.lastIndexOf('=');
  const roles = given.slice(equals + 1).split('+');
  return equals > 0 && roles.every(isRole);
}

function isNetwork(given: string): boolean {
  const [address = '', length, ...rest] = given.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (length === undefined) return true;
  return /^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
}

/** `.` and `..` have a meaning in paths. */
function isMemberId(given: string): boolean {
  return MEMBER_ID.test(given) && given !== '.' && given !== '..';
}

function parseEndpoint(given: string): string | false {
  return parseOrigin(given.replace(/\/$/, ''));
}

/** As browsers send it: lower case, without the default port. */
function parseOrigin(given: string): string | false {
  return /^https?:\/\/[^/?#@*\\\s]+$/i.test(given) && URL.canParse(given) && new URL(given).origin;
}
