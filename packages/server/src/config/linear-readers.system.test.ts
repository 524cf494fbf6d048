import type { ConfigFormat } from '@porthole/contract';
import { expect, it } from 'vitest';
import { viewConfig } from './config-view.ts';

const MIB = 1024 ** 2;

/** Four times as much text takes four times as long, and not sixteen: between, there is room for a busy machine. */
const MOST_TIMES = 10;

function fill(part: string, length: number): string {
  return part.repeat(Math.ceil(length / part.length)).slice(0, length);
}

/** Texts of a length that are as bad as we know for the readers of these formats, and for what looks for secrets in them. */
const WORST: readonly [name: string, formats: readonly ConfigFormat[], make: (length: number) => string][] = [
  ['a long run of blanks', ['ini', 'env', 'postgresql', 'key-value'], (length) => `a${fill(' ', length)}b = c\n`],
  ['a long run of blanks before a value', ['ini', 'nginx', 'yaml', 'text'], (length) => `a =${fill(' ', length)}b`],
  ['lines that are continued', ['properties', 'text'], (length) => `a = ${fill('bcdefghijklmnopqrstu\\\n', length)}`],
  ['lines of a value', ['ini'], (length) => `[x]\na =\n${fill('  bcdefghijklmno\n', length)}`],
  ['commented-out secrets', ['ini'], (length) => fill('# a_password_of_the_past = b\n', length)],
  ['names of secrets', ['text', 'key-value'], (length) => fill('password ', length)],
  ['secrets without an end', ['text'], (length) => fill("password: 'x\n", length)],
  ['brackets without an end', ['json'], (length) => fill('"password": [', length)],
  ['braces without an end', ['text', 'key-value'], (length) => fill(';Password={', length)],
  ['texts without an end', ['text'], (length) => fill('token = <<EOF\n', length)],
  ['elements without an end', ['text', 'xml'], (length) => fill('<password ', length)],
  ['keys without an end', ['text'], (length) => fill('-----BEGIN PRIVATE KEY-----\n', length)],
  ['addresses', ['text'], (length) => fill('//hooks.slack.com/services/', length)],
  ['backslashes', ['ini', 'properties', 'env'], (length) => `a = "${fill('\\', length)}`],
  ['manifests', ['yaml'], (length) => fill('---\nkind: Secret\ndata:\n  abc: d\n', length)],
];

async function cpuMs(format: ConfigFormat, text: string): Promise<number> {
  const from = process.cpuUsage();
  // Refused for its size is as good.
  await viewConfig([{ path: 'x', text, format }], []).catch(() => {});
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

it.each(WORST.flatMap(([name, formats, make]) => formats.map((format) => [format, name, make] as const)))(
  '%s: %s',
  async (format, _, make) => {
    await cpuMs(format, make(1024));
    const small = await cpuMs(format, make(MIB / 4));
    // Less is too short to be compared.
    expect(await cpuMs(format, make(MIB))).toBeLessThan(Math.max(1000, small * MOST_TIMES));
  },
);
