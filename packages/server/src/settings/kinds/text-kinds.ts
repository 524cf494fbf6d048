import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { type Reading, refuseType, type SettingKind, toReading } from './setting-kind.ts';

/** The longest path Linux accepts; no setting is longer. */
const MAX_TEXT = 4096;

/** Control characters end lines and cut C strings; lone surrogates cannot be written to a file. */
const UNWRITABLE = /[\p{Cc}\p{Cs}]/u;

const HOST_NAME = /^(?=.{1,253}\.?$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/i;

interface TextRules<T extends string> {
  name: string;
  noun: string;
  accepted: string;
  parse(text: string, baseDir: string): T | undefined;
}

/** All kinds that are strings in every source. */
export function textKind<T extends string>({ name, noun, accepted, parse }: TextRules<T>): SettingKind<T> {
  const wanted = { noun, accepted };
  function read(value: unknown, baseDir: string): Reading<T> {
    if (typeof value !== 'string') return refuseType(wanted, value);
    const writable = value.length <= MAX_TEXT && !UNWRITABLE.test(value);
    return toReading(wanted, value, writable ? parse(value, baseDir) : undefined);
  }
  return {
    name,
    ...wanted,
    shape: 'value',
    fromText: read,
    fromToml: read,
    fromOption: read,
    toJson: (value) => value,
  };
}

export function string(): SettingKind<string> {
  return textKind({
    name: 'string',
    noun: 'a string',
    accepted: `at most ${MAX_TEXT} characters, no control characters`,
    parse: (text) => text,
  });
}

/** The name of a key with `*` for any characters. An empty one would match no key, but looks as if it matched all. */
export function keyPattern(): SettingKind<string> {
  return textKind({
    name: 'key pattern',
    noun: 'a key pattern',
    accepted: 'the name of a key, "*" stands for any characters',
    parse: (text) => (text.trim() === '' ? undefined : text),
  });
}

/** Absolute once read; empty stays empty. */
export function path(): SettingKind<string> {
  return textKind({
    name: 'path',
    noun: 'a path',
    accepted: `at most ${MAX_TEXT} characters, no control characters; "~" is not expanded`,
    parse: (text, baseDir) => {
      if (text === '') return '';
      // Taken literally it would quietly create a directory named "~".
      return /^~(?:\/|$)/.test(text) ? undefined : resolve(baseDir, text);
    },
  });
}

/** An address or host name: lower case, IPv6 without brackets. */
export function host(): SettingKind<string> {
  return textKind({
    name: 'host',
    noun: 'a host',
    accepted: 'a name or an IP address, without scheme and port',
    parse: (text) => {
      const bare = /^\[(.*)\]$/.exec(text)?.[1];
      if (bare !== undefined) return isIP(bare) === 6 ? bare.toLowerCase() : undefined;
      if (isIP(text) !== 0) return text.toLowerCase();
      // No host name ends in a number: this is a mistyped address, which would be resolved as a name.
      const mistyped = /(?:^|\.)\d+\.?$/.test(text);
      return HOST_NAME.test(text) && !mistyped ? text.toLowerCase() : undefined;
    },
  });
}

export function ip(): SettingKind<string> {
  return textKind({
    name: 'IP address',
    noun: 'an IP address',
    accepted: 'one that other machines can reach, or ""',
    parse: (text) => (text === '' || (isIP(text) !== 0 && !isUnspecified(text)) ? text : undefined),
  });
}

export function zone(): SettingKind<string> {
  return textKind({
    name: 'time zone',
    noun: 'a time zone',
    accepted: 'an IANA name like "Europe/Berlin", or ""',
    parse: (text) => (text === '' || isZone(text) ? text : undefined),
  });
}

export function origin(): SettingKind<string> {
  return textKind({
    name: 'origin',
    noun: 'an origin',
    accepted: 'like "https://ops.example.org", without a path, or "*"',
    parse: (text) => (text === '*' ? text : parseOrigin(text)),
  });
}

export function choice<const T extends string>(options: readonly T[]): SettingKind<T> {
  return textKind({
    name: `one of ${options.join(', ')}`,
    noun: 'a choice',
    accepted: `one of ${options.map((option) => `"${option}"`).join(', ')}`,
    parse: (text) => options.find((option) => option === text.toLowerCase()),
  });
}

function isUnspecified(address: string): boolean {
  return /^[0:.]+$/.test(address);
}

function isZone(name: string): boolean {
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

/** As browsers send it: lower case, without the default port. */
export function parseOrigin(text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@*\\\s]+$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin;
}
