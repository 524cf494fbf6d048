import { isIP } from 'node:net';
import { resolve } from 'node:path';
import {
  DURATION_UNITS,
  durationText,
  isRole,
  LABEL_TEXT,
  MEMBER_ID,
  MEMBER_ROLE,
  parseJson,
  parseLabel,
  ROLES,
  readDuration,
} from '@porthole/contract';
import { parseUserFormats, type UserFormat } from '@porthole/logs';
import { describeFound, escapeUnprintable, showValue, tomlLiteral } from './show-value.ts';
import { parseWebhooks } from './webhooks.ts';

/** The value of a setting, in memory and in the file. */
export type SettingScalar = string | number | boolean | string[];

/** How a source writes values. */
export interface Notation {
  /**
   * `text`: environment variables and flags. `toml`: a file parsed with integers as `bigint`, so that `7300.0` is not
   * taken for a port. `option`: a program, with durations in milliseconds and sizes in bytes.
   */
  form: 'text' | 'toml' | 'option';
  /** Relative paths are resolved against it. */
  baseDir: string;
}

/** The type of a setting: its valid values, and how each source writes them. */
export interface SettingKind<T extends SettingScalar = SettingScalar> {
  /** The type as the documentation names it: `port`, `list of origins`. */
  readonly name: string;
  /** The name in a sentence: `a port`. */
  readonly noun: string;
  /** The accepted values: `0 to 65535`. */
  readonly accepted: string;
  /** The smallest and largest value, for the documentation: `10ms to 1d`. May be empty. */
  readonly limits: string;
  /** JSON Schema of what a file may hold, for editors. It may accept more than `read` does, never less. */
  readonly schema: object;
  /** How a command line passes it: alone (`switch`), once (`value`) or any number of times (`list`). */
  readonly shape: 'switch' | 'value' | 'list';
  read(value: unknown, notation: Notation): Reading<T>;
  /** As in the file. */
  toJson(value: T): SettingScalar;
  /** As a TOML literal, if it is not that of its JSON. */
  toToml?(value: T): string;
}

/** The value, or the message that refuses it. */
export type Reading<T> = { value: T } | { refused: string };

type KindNames = Pick<SettingKind, 'noun' | 'accepted'>;

function refuseType({ noun }: KindNames, value: unknown, { form }: Notation): { refused: string } {
  return { refused: `expected ${noun}, found ${describeFound(value, form)}` };
}

function refuseValue({ noun, accepted }: KindNames, value: unknown): { refused: string } {
  return { refused: `${showValue(value)} is not ${noun} (${accepted})` };
}

interface KindRules<T extends SettingScalar, V> extends Partial<Omit<SettingKind<T>, 'read'>> {
  noun: string;
  accepted: string;
  /** Whether a value has the type this notation uses. */
  hasType(value: unknown, form: Notation['form']): value is V;
  /** `undefined`: not accepted. */
  parse(value: V, baseDir: string): T | undefined;
}

function defineKind<T extends SettingScalar, V>({ hasType, parse, ...kind }: KindRules<T, V>): SettingKind<T> {
  function read(value: unknown, notation: Notation): Reading<T> {
    if (!hasType(value, notation.form)) return refuseType(kind, value, notation);
    const parsed = parse(value, notation.baseDir);
    return parsed === undefined ? refuseValue(kind, value) : { value: parsed };
  }
  const name = kind.noun.replace(/^an? /, '');
  return { name, limits: '', schema: { type: 'string' }, shape: 'value', toJson: (value) => value, ...kind, read };
}

/** Lists are searched per request; one of thousands is a mistake. */
const MAX_ITEMS = 256;

/** Any number of items of one kind. Text is split at commas; empty items are ignored. */
export function list(item: SettingKind<string>, plural: string, maxItems = MAX_ITEMS): SettingKind<string[]> {
  const name = `list of ${plural}`;
  const schema = { type: 'array', items: item.schema, maxItems };
  const kind = { name, noun: `a ${name}`, accepted: `at most ${maxItems}`, limits: '', schema, shape: 'list' as const };
  function read(value: unknown, notation: Notation): Reading<string[]> {
    const given: unknown = notation.form === 'text' ? splitAtCommas(String(value)) : value;
    if (!Array.isArray(given)) return refuseType(kind, given, notation);
    if (given.length > maxItems) return refuseValue(kind, given);
    const items: string[] = [];
    for (const each of given) {
      const reading = item.read(each, notation);
      if ('refused' in reading) return reading;
      items.push(reading.value);
    }
    return { value: items };
  }
  return { ...kind, read, toJson: (value) => [...value] };
}

function splitAtCommas(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '');
}

/** Spellings used by shells, compose files and charts; the file itself has TOML's two. */
const TRUE_AND_FALSE = [
  ['true', 'yes', 'on', '1'],
  ['false', 'no', 'off', '0'],
] as const;

export const onOff = defineKind<boolean, unknown>({
  noun: 'a boolean',
  accepted: 'true or false',
  schema: { type: 'boolean' },
  shape: 'switch',
  hasType: (value, form): value is unknown => form === 'text' || typeof value === 'boolean',
  parse: (value) => {
    const spelling = TRUE_AND_FALSE.findIndex((texts) => texts.some((text) => text === String(value).toLowerCase()));
    return spelling === -1 ? undefined : spelling === 0;
  },
});

interface NumberRules extends Partial<Omit<SettingKind<number>, 'read'>> {
  noun: string;
  min: string;
  max: string;
  parse(text: string): number | undefined;
  /** The units, for messages. */
  units?: string;
  /** What the file may hold. */
  inFile: readonly ('bigint' | 'string')[];
}

/** All kinds that are integers in memory. A misspelt bound refuses every value, and the default first of all. */
function numberKind({ min, max, parse, units, inFile, ...rest }: NumberRules): SettingKind<number> {
  const limits = `${min} to ${max}`;
  const [least, most] = [parse(min) ?? Number.NaN, parse(max) ?? Number.NaN];
  const schema = inFile.includes('string')
    ? { type: inFile.includes('bigint') ? ['string', 'integer'] : 'string', pattern: String.raw`^\s*\d` }
    : { type: 'integer', minimum: least, maximum: most };
  return defineKind<number, string | number | bigint>({
    schema,
    accepted: units === undefined ? limits : `units ${units}; ${limits}`,
    limits,
    ...rest,
    hasType: (value, form): value is string | number | bigint =>
      form === 'toml' ? inFile.some((type) => typeof value === type) : typeof value === NUMBER_TYPES[form],
    parse: (value) => {
      const number = typeof value === 'string' ? parse(value) : Number(value);
      return number !== undefined && Number.isSafeInteger(number) && number >= least && number <= most
        ? number
        : undefined;
    },
  });
}

const NUMBER_TYPES = { text: 'string', option: 'number' };

export function integer(min: number, max: number): SettingKind<number> {
  const bounds = { min: String(min), max: String(max) };
  return numberKind({ name: 'integer', noun: 'a whole number', ...bounds, parse: parseInteger, inFile: ['bigint'] });
}

export const port = numberKind({
  noun: 'a port',
  min: '0',
  max: '65535',
  limits: '',
  parse: parseInteger,
  inFile: ['bigint'],
});

/** The same grammar as in times, with the unit: a bare `30` is ambiguous. Written in the largest unit that divides it: `90000` is `"90s"`. */
export function duration(min: string, max: string): SettingKind<number> {
  return numberKind({
    name: 'duration',
    noun: 'a duration like "30s"',
    min,
    max,
    units: DURATION_UNITS,
    parse: parseDuration,
    inFile: ['string'],
    toJson: durationText,
  });
}

/** `"64MiB"`, `"10MB"` or `"4096"`, ignoring case. A value that no unit divides stays a number. */
export function size(min: string, max: string): SettingKind<number> {
  return numberKind({
    name: 'size',
    noun: 'a size like "64MiB"',
    min,
    max,
    units: 'B, KB, KiB, MB, MiB, GB, GiB, TB, TiB',
    parse: parseSize,
    inFile: ['string', 'bigint'],
    toJson: (bytes) => {
      const [unit, factor] = SIZE_UNITS.find(([, divisor]) => bytes > 0 && bytes % divisor === 0) ?? [];
      return factor === undefined ? bytes : `${bytes / factor}${unit}`;
    },
  });
}

function parseDuration(text: string): number | undefined {
  const reading = readDuration(text);
  return 'durationMs' in reading ? reading.durationMs : undefined;
}

function parseInteger(text: string): number | undefined {
  return /^(?:0|-?[1-9]\d{0,15})$/.test(text) ? Number(text) : undefined;
}

/** A size is written in the first unit that divides it. Binary ones first: buffers and files are mostly powers of two. */
const SIZE_UNITS = ['iB', 'B'].flatMap((suffix) =>
  ['T', 'G', 'M', 'K'].map(
    (prefix, index) => [prefix + suffix, (suffix === 'B' ? 1000 : 1024) ** (4 - index)] as const,
  ),
);

function parseSize(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,16})([a-z]*)$/i.exec(text) ?? [];
  const factor = SIZE_UNITS.find(([name]) => name.toLowerCase() === unit.toLowerCase())?.[1];
  const bytes = Number(digits) * (/^b?$/i.test(unit) ? 1 : (factor ?? Number.NaN));
  return digits !== '' && Number.isSafeInteger(bytes) ? bytes : undefined;
}

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
    // Editors offer what is listed; other cases of the letters are accepted, too.
    schema: { anyOf: [{ enum: options }, { type: 'string', pattern: `^(?:${options.map(anyCase).join('|')})$` }] },
    hasType: isString,
    parse: (given) => options.find((option) => option === given.toLowerCase()),
  });
}

/** Expressions of JSON Schema have no flag for it. */
function anyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** The kinds of systemd units, which end their names. */
const SUFFIX = /\.(?:service|socket|device|mount|automount|swap|target|path|timer|slice|scope)$/;

/** A leading dash and backslashes are left out: the name is also that of a file and of a log. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,199}$/;

export const UNIT_NAMES = 'letters, digits and any of ".:_@-", like "nginx" or "getty@tty1.service"';

/** The full name of a unit: `nginx` is `nginx.service`, as for systemctl. `undefined` if it is not one. */
export function parseUnitName(text: string): string | undefined {
  if (!NAME.test(text)) return undefined;
  return SUFFIX.test(text) ? text : `${text}.service`;
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
  optionalUnit: textKind('a systemd unit', `${UNIT_NAMES}, or ""`, (given) => given === '' || (parseUnitName(given) ?? false)),
  claimPath: textKind('a claim', 'the name of a claim, like "groups", or a path to one, like "realm_access.roles"',
    (given) => /^[^.\s]+(?:\.[^.\s]+){0,7}$/.test(given)),
  roleRule: textKind('a role rule', `like "ops-*=viewer+config", "*" stands for any characters; ${ROLES_TEXT}`, isRoleRule),
  certificateRule: textKind('a certificate rule',
    `like "CN:ops-*=viewer" or "DNS:*.example.org=admin", with ${CERTIFICATE_NAMES.join(' ')}; ${ROLES_TEXT}`,
    (given) => CERTIFICATE_NAMES.some((type) => given.startsWith(type) && isRoleRule(given.slice(type.length)))),
  clusterName: textKind('a cluster name', '1 to 64 letters, digits, dots, dashes and underscores',
    (given) => /^[A-Za-z0-9._-]{1,64}$/.test(given)),
  /** A database of ClickHouse: safe in URLs, file names and SQL. */
  databaseName: textKind('a name', '1 to 64 letters, digits and underscores, or ""', (given) => /^[A-Za-z0-9_]{0,64}$/.test(given)),
  role: textKind('a role', '1 to 32 letters, digits, dashes and underscores', (given) => MEMBER_ROLE.test(given)),
  label: textKind('a label', LABEL_TEXT, (given) => parseLabel(given) !== undefined),
  memberId: textKind('a member id', '1 to 128 letters, digits and ".:_-", or ""', (given) => given === '' || isMemberId(given)),
  memberAddress: textKind('a member', 'a URL like "http://10.0.0.7:7300" or "http://10.0.0.7:8080/ops", or "ID=URL", without a query, a user and a password',
    parseMember),
  memberZone: textKind('a zone of members', 'the id of a member, "*" stands for any characters, and an IANA name, like "lindb-*=Asia/Shanghai"',
    (given) => parseMemberZone(given) !== undefined),
  /** The address of a registry. */
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

const SHARE = /^(\d{1,2}(?:\.\d{1,2})?|100)%$/;

const bytes = size('0B', '16TiB');

/** A size, or a share of the size of the logs: `"2%"`. Kept as text; see `readIndexLimit`. */
export const indexLimit = defineKind<string, string | number | bigint>({
  name: 'size or share',
  noun: 'a size like "4GiB" or a share of the logs like "2%"',
  accepted: '0 to 100%, or 0B to 16TiB',
  limits: '0B to 16TiB, or 0% to 100%',
  schema: { type: ['string', 'integer'] },
  hasType: (value, form): value is string | number | bigint =>
    typeof value === 'string' || (form === 'option' && typeof value === 'number') || typeof value === 'bigint',
  parse: (value) => {
    const text = String(value);
    return SHARE.test(text) || readBytes(text) !== undefined ? text : undefined;
  },
});

/** The limit in bytes, of logs of this size. */
export function readIndexLimit(limit: string): (logBytes: number) => number {
  const share = SHARE.exec(limit)?.[1];
  if (share !== undefined) return (logBytes) => Math.floor((logBytes * Number(share)) / 100);
  const most = readBytes(limit) ?? 0;
  return () => most;
}

function readBytes(text: string): number | undefined {
  const reading = bytes.read(text, { form: 'text', baseDir: '' });
  return 'value' in reading ? reading.value : undefined;
}

/**
 * Tables, each kept as its JSON text: a list of texts is compared, copied and reported like any other. A file has them as
 * tables; environment variables and flags as JSON. `parse` returns the texts, or what is wrong.
 */
function tableList(
  names: Pick<SettingKind, 'name' | 'noun' | 'accepted'>,
  parse: (given: unknown, baseDir: string) => { texts: string[]; problems: readonly string[] },
): SettingKind<string[]> {
  return {
    ...names,
    limits: '',
    schema: { type: 'array', items: { type: 'object' } },
    shape: 'list',
    read(value, { form, baseDir }) {
      const given = form === 'text' ? parseJsonList(String(value)) : value;
      if (given === undefined) return { refused: 'not valid JSON' };
      const { texts, problems } = parse(given, baseDir);
      return problems.length > 0 ? { refused: escapeUnprintable(problems.join('; ')) } : { value: texts };
    },
    toJson: (texts) => [...texts],
    toToml: (texts) => tomlLiteral(texts.map((text) => JSON.parse(text))),
  };
}

export const formatList = tableList(
  { name: 'list of formats', noun: 'a list of log formats', accepted: 'tables with name, lines and times' },
  (given) => {
    const { formats, problems } = parseUserFormats(given);
    return { texts: formats.map(formatText), problems };
  },
);

export const webhookList = tableList(
  { name: 'list of webhooks', noun: 'a list of webhooks', accepted: 'tables with name and url or url-file' },
  (given, baseDir) => {
    const { webhooks, problems } = parseWebhooks(given, baseDir);
    return { texts: webhooks.map((webhook) => JSON.stringify(webhook)), problems };
  },
);

/** The formats of a valid setting. */
export function readFormats(texts: readonly string[]): UserFormat[] {
  return parseUserFormats(texts).formats;
}

/** A list, or the items of one: a flag may be repeated. */
function parseJsonList(text: string): unknown[] | undefined {
  return (parseJson(`[${text}]`) as unknown[] | undefined)?.flat();
}

function formatText({ levels, samples, ...format }: UserFormat): string {
  const hasLevels = Object.keys(levels).length > 0;
  return JSON.stringify({ ...format, ...(hasLevels && { levels }), ...(samples.length > 0 && { samples }) });
}
