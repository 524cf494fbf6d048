import { describe, expect, test } from 'vitest';
import { PATTERN_NAMES, type PatternName } from './patterns.ts';
import { ScrubFeed } from './scrub-feed.ts';
import { Scrubber } from './scrubber.ts';

function scrubber(...patterns: PatternName[]): Scrubber {
  return new Scrubber({ id: '', table: undefined, patterns });
}

/** The text with the masked parts in angle brackets. */
function shown(text: string, ...patterns: PatternName[]): string {
  const bytes = Buffer.from(text, 'latin1');
  scrubber(...patterns).mask(bytes, { atEnd: true });
  expect(bytes.length).toBe(text.length);
  return bytes.toString('latin1').replace(/\*+/g, (mask) => `<${mask.length}>`);
}

const KEY_LINES = Array.from({ length: 26 }, (_, index) => `MIIEvQ${index}+/`.padEnd(64, 'A')).join('\n');

describe('patterns', () => {
  test.each<[PatternName, string, string]>([
    ['bearer-token', 'Authorization: Bearer abc.DEF-123~+/==', 'Authorization: Bearer <16>'],
    ['bearer-token', 'authorization=bearer%20abcdefgh12 next', 'authorization=bearer%20<10> next'],
    ['bearer-token', 'the bearer of this', 'the bearer of this'],
    ['aws-key', 'key AKIAIOSFODNN7EXAMPLE used', 'key <20> used'],
    ['aws-key', 'XAKIAIOSFODNN7EXAMPLE', 'XAKIAIOSFODNN7EXAMPLE'],
    ['aws-key', `aws_secret_access_key = "${'wJalrXUtnF'.repeat(4)}"`, 'aws_secret_access_key = "<40>"'],
    ['aws-key', `SecretKey: ${'wJalrXUtnF'.repeat(4)}x`, `SecretKey: ${'wJalrXUtnF'.repeat(4)}x`],
    ['jwt', `t=eyJ${'a'.repeat(30)}.eyJ${'b'.repeat(30)}.c_-d;`, 't=<72>;'],
    ['jwt', 'eyJhbGci', 'eyJhbGci'],
    ['card-number', 'card 4111 1111 1111 1111, ok', 'card <19>, ok'],
    ['card-number', '378282246310005 5555-5555-5555-4444', '<15> <19>'],
    [
      'card-number',
      '4111111111111112 1700000000000 2026-11-15 10:00:00',
      '4111111111111112 1700000000000 2026-11-15 10:00:00',
    ],
    [
      'private-key',
      'k = "-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----"',
      'k = "-----BEGIN RSA PRIVATE KEY-----<8>-----END RSA PRIVATE KEY-----"',
    ],
    ['private-key', '-----BEGIN PUBLIC KEY-----\nMIIE\n', '-----BEGIN PUBLIC KEY-----\nMIIE\n'],
  ])('%s: %s', (pattern, text, expected) => {
    expect(shown(text, pattern)).toBe(expected);
  });

  test('a private key is masked line by line, and its lines remain lines', () => {
    const text = `-----BEGIN PRIVATE KEY-----\n${KEY_LINES}\n-----END PRIVATE KEY-----\n`;
    const masked = KEY_LINES.replace(/[^\n]/g, '*');
    const bytes = Buffer.from(text);
    scrubber('private-key').mask(bytes);
    expect(bytes.toString()).toBe(`-----BEGIN PRIVATE KEY-----\n${masked}\n-----END PRIVATE KEY-----\n`);
  });

  test('every part of a text, and a text in pieces, is masked like the whole', () => {
    const text = Buffer.from(
      [
        `x -----BEGIN PRIVATE KEY-----\n${KEY_LINES}\n-----END PRIVATE KEY-----`,
        `Bearer ${'tok3n'.repeat(30)} AKIAIOSFODNN7EXAMPLE 4111 1111 1111 1111 eyJ${'q'.repeat(700)}`,
      ].join('\n'),
    );
    const all = scrubber(...PATTERN_NAMES);
    const whole = Buffer.from(text);
    all.mask(whole);
    for (let start = 0; start < text.length; start += 37) {
      const end = Math.min(start + 53, text.length);
      const first = Math.max(0, start - all.leftBytes);
      const part = Buffer.from(text.subarray(first, Math.min(end + all.rightBytes, text.length)));
      all.mask(part, { from: start - first, to: end - first });
      expect(part.subarray(start - first, end - first).toString()).toBe(whole.subarray(start, end).toString());
    }
    for (const length of [1, 7, 100]) {
      const feed = new ScrubFeed(() => all);
      const pieces: Buffer[] = [];
      for (let at = 0; at < text.length; at += length)
        pieces.push(Buffer.from(feed.push(text.subarray(at, at + length))));
      pieces.push(feed.end());
      expect(Buffer.concat(pieces).toString()).toBe(whole.toString());
    }
  });

  test('text crafted to look like the beginnings of matches takes no longer', () => {
    const parts = ['Bearer ', 'eyJ', 'AKIA', '4111 ', '-----BEGIN PRIVATE KEY-----', 'secret_key=', '-', ' '];
    for (const part of parts) {
      const bytes = Buffer.from(part.repeat(Math.ceil(300_000 / part.length)));
      expect(bytes.length).toBeGreaterThanOrEqual(300_000);
      scrubber(...PATTERN_NAMES).mask(bytes);
    }
  });
});
