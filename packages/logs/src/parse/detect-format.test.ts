import { expect, test } from 'vitest';
import { BUILT_IN_FORMATS, createFormat, FORMAT_NAMES } from './detect-format.ts';
import { createZone } from './zone.ts';

const OPTIONS = { zone: createZone('UTC'), writtenMs: Date.parse('2026-11-15T00:30:00Z') };
const detect = (text: string | Buffer) => BUILT_IN_FORMATS.detect(Buffer.from(text), OPTIONS).name;

const CONTRACT = '2024-08-16 09:48:23.118\tINFO\ta.go:1\tx\n';
const ACCESS = '2024-08-16 09:49:44.002\t10.8.0.5 3ms "PUT /x HTTP/1.1" 200 1024\n';
const LOG4J = '2024-08-16 09:48:23,118 [main] INFO  c.e.App - x\n';
const ISO = '2024-08-16 09:48:23 x\n';
const STACK = 'java.lang.Error: x\n\tat a.b(c.java:1)\n\tat a.c(c.java:2)\n';

test.each([
  ['nothing', '', 'text'],
  ['blank lines', '\n\r\n\n', 'text'],
  ['NUL bytes', Buffer.alloc(5000), 'text'],
  ['bytes that are no text', Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 37) % 256)), 'text'],
  ['stack traces alone', STACK.repeat(20), 'text'],
  ['a contract file behind a banner', ` __\n/ /\nWelcome 2024\n\n${CONTRACT}`, 'contract'],
  ['a contract file that starts within a stack', STACK.repeat(50) + CONTRACT, 'contract'],
  ['contract lines without level', '2024-08-16 09:48:23.118\tx\n', 'contract'],
  ['contract lines, some with spaces', CONTRACT.repeat(3) + ISO, 'contract'],
  ['requests', ACCESS, 'lindb-access'],
  ['a contract file with one access line', CONTRACT.repeat(5) + ACCESS, 'contract'],
  ['log4j with a few other lines', LOG4J.repeat(5) + ISO + STACK, 'log4j'],
  ['times and prose', ISO, 'iso'],
  ['only one line, not ended', CONTRACT.trimEnd(), 'contract'],
  ['a last line cut off', `${ISO}{"time":"2024-08-16T09:48:23Z","x":`, 'iso'],
  ['JSON behind prose', `starting\nready\n{"ts":1723801703.1,"msg":"x"}\n`, 'json'],
  ['JSON without times', '{"level":"info","msg":"x"}\n{"msg":"y"}\n', 'json'],
  ['one brace in prose', 'a\n{"b"}\nc\nd\n', 'text'],
  ['levels behind an ISO time are no hosts', '2024-08-16T09:48:23Z info server: up\n', 'iso'],
  ['a word and a colon behind a level is no logger', '2024-08-16 09:48:23 INFO retrying: 3\n', 'iso'],
  ['a number is no time', '1723801703 x\n20240816 y\n', 'text'],
  ['dates that do not exist', '2024-02-30 00:00:00\tINFO\tx\n', 'text'],
  ['a long line in front', `${'x'.repeat(30_000)}\n${LOG4J}`, 'log4j'],
])('%s', (_, sample, expected) => {
  expect(detect(sample)).toBe(expected);
});

test('CR LF makes no difference', () => {
  for (const lines of [CONTRACT, ACCESS, LOG4J, ISO]) expect(detect(lines.replace('\n', '\r\n'))).toBe(detect(lines));
});

test('text beyond what is sampled does not matter', () => {
  expect(detect(ISO + 'prose\n'.repeat(18_000) + LOG4J.repeat(5000))).toBe('iso');
});

test('a format can be created by its name', () => {
  for (const name of FORMAT_NAMES) expect(createFormat(name, OPTIONS).name).toBe(name);
  expect(FORMAT_NAMES.filter((name) => !createFormat(name, OPTIONS).timed)).toEqual(['python-basic', 'text']);
});
