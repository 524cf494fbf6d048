import { resolve } from 'node:path';
import { EVENT_KINDS, type EventKind, isEventKind, parseJson } from '@porthole/contract';

/** More receivers than that get events through one that passes them on. */
const MAX_WEBHOOKS = 16;

const NAME = /^[A-Za-z0-9_-]{1,32}$/;
const URL_TEXT = /^https?:\/\/[^@\\\s#]+$/i;
const LEVELS = ['info', 'warn', 'error'] as const;
const FORMATS = ['json', 'slack'] as const;

/** Where events are sent to. */
export interface Webhook {
  name: string;
  /** Either the URL, or the file that contains it, because it is a secret. */
  url?: string;
  'url-file'?: string;
  /** Contains the key that bodies are signed with. */
  'secret-file'?: string;
  /** Empty: all. */
  kinds: readonly EventKind[];
  /** The lowest that is sent. */
  level: (typeof LEVELS)[number];
  format: (typeof FORMATS)[number];
}

/** The webhooks of a setting, paths absolute, or what is wrong with them. */
export function parseWebhooks(given: unknown, baseDir: string): { webhooks: Webhook[]; problems: string[] } {
  if (!Array.isArray(given)) return { webhooks: [], problems: ['expected a list of webhooks'] };
  const readings = given.slice(0, MAX_WEBHOOKS).map((entry) => parseWebhook(asObject(entry), baseDir));
  const webhooks = readings.flatMap((reading) => (typeof reading === 'string' ? [] : [reading]));
  const problems = readings.flatMap((reading, index) =>
    typeof reading === 'string' ? [`webhook ${index + 1}: ${reading}`] : [],
  );
  if (given.length > MAX_WEBHOOKS) problems.push(`there are more than ${MAX_WEBHOOKS} webhooks`);
  if (new Set(webhooks.map(({ name }) => name)).size < webhooks.length)
    problems.push('two webhooks have the same name');
  return { webhooks, problems };
}

/** An entry of a file, or its JSON text. */
function asObject(entry: unknown): Record<string, unknown> {
  const value: unknown = typeof entry === 'string' ? parseJson(entry) : entry;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function parseWebhook(entry: Record<string, unknown>, baseDir: string): Webhook | string {
  const { name, url, 'url-file': urlFile, 'secret-file': secretFile, kinds = [], ...rest } = entry;
  const { level = 'warn', format = 'json', ...unknown } = rest;
  const [other] = Object.keys(unknown);
  if (other !== undefined) return `unknown key ${JSON.stringify(other.slice(0, 40))}`;
  if (typeof name !== 'string' || !NAME.test(name))
    return 'name must be 1 to 32 letters, digits, dashes and underscores';
  if ((url === undefined) === (urlFile === undefined)) return `${name} needs url or url-file, not both`;
  if (url !== undefined && !(typeof url === 'string' && URL_TEXT.test(url) && URL.canParse(url)))
    return `url of ${name} must be like "https://chat.example.org/hooks", http or https, without a user and a password`;
  for (const [key, path] of Object.entries({ 'url-file': urlFile, 'secret-file': secretFile }))
    if (path !== undefined && (typeof path !== 'string' || path === '')) return `${key} of ${name} must be a path`;
  if (!Array.isArray(kinds) || !kinds.every(isEventKind))
    return `kinds of ${name} must be a list of these: ${EVENT_KINDS.join(', ')}`;
  if (!isOneOf(LEVELS, level)) return `level of ${name} must be info, warn or error`;
  if (!isOneOf(FORMATS, format)) return `format of ${name} must be json or slack`;
  return {
    name,
    ...(typeof url === 'string' && { url }),
    ...(typeof urlFile === 'string' && { 'url-file': resolve(baseDir, urlFile) }),
    ...(typeof secretFile === 'string' && { 'secret-file': resolve(baseDir, secretFile) }),
    kinds,
    level,
    format,
  };
}

function isOneOf<T extends string>(choices: readonly T[], value: unknown): value is T {
  return (choices as readonly unknown[]).includes(value);
}
