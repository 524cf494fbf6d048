import { readFileSync } from 'node:fs';

/** The compressed files of the text, and what they are; see ../fixtures/README.md. */
export const FIXTURES = [
  'default.zst',
  'ultra.zst',
  'frames.zst',
  'default.xz',
  'blocks.xz',
  'properties.xz',
  'default.bz2',
  'streams.bz2',
] as const;

export type FixtureName = (typeof FIXTURES)[number];

export function fixture(name: FixtureName): Buffer {
  return readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
}

const START_MS = Date.parse('2026-06-01T10:00:00Z');
const LEVELS = ['DEBUG', 'INFO', 'INFO', 'INFO', 'WARN', 'ERROR'];
const LINES = 2000;
const NOISE_BYTES = 5_000;

/** Log lines, and a long one that cannot be compressed; always the same. */
export function fixtureText(): Buffer {
  let seed = 42;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const lines = Array.from({ length: LINES }, (_, index) => {
    const time = new Date(START_MS + index * 250).toISOString().replace('T', ' ').replace('Z', '');
    const what = ['flushed', 'opened', 'closed', 'merged'][random(4)];
    const rest = random(50) === 0 ? `\n\tat merge (${'='.repeat(random(300))})` : '';
    return `${time}\t${LEVELS[random(6)]}\tshard.go:${random(20)}\t${what} segment ${random(100_000)} 😀 in ${random(900)} ms${rest}\n`;
  });
  // No newlines: they would be lines.
  const noise = Buffer.from(Array.from({ length: NOISE_BYTES }, () => 32 + random(224)));
  const text = Buffer.from(lines.join(''));
  const middle = text.indexOf('\n', text.length / 2);
  return Buffer.concat([text.subarray(0, middle), noise, text.subarray(middle)]);
}
