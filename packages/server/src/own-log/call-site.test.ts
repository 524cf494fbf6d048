import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { createCallSite, SourceLocations, shortenFrame } from './call-site.ts';

const callSite = createCallSite();
const whereAmI = (): string => callSite(whereAmI);

/** The line as reported by the engine itself. */
function lineAbove(): number {
  return Number(/:(\d+):\d+\)?$/.exec(new Error().stack?.split('\n')[2] ?? '')?.[1]);
}

test('the location is that of the caller, with the last folder and the line', () => {
  const [site, line] = [whereAmI(), lineAbove()];
  expect(site).toBe(`own-log/call-site.test.ts:${line}`);
});

test('each call has its own location, and the same call the same one', () => {
  const first = whereAmI();
  const second = whereAmI();
  const again = [0, 1].map(() => whereAmI());
  expect(first).not.toBe(second);
  expect(again[0]).toBe(again[1]);
});

test('the stack limit of the program is as it was before', () => {
  const before = Error.stackTraceLimit;
  whereAmI();
  expect(Error.stackTraceLimit).toBe(before);
});

test('a program that formats stacks its own way gets a dash, not an error', () => {
  const before = Error.prepareStackTrace;
  try {
    Error.prepareStackTrace = (_, frames) => frames;
    expect(whereAmI()).toBe('-');
    Error.prepareStackTrace = () => {
      throw new Error('broken hook');
    };
    expect(whereAmI()).toBe('-');
  } finally {
    Error.prepareStackTrace = before;
  }
});

test.each([
  ['    at serve (file:///app/server/dist/http/http-server.js:42:7)', 'http/http-server.js:42'],
  ['    at file:///app/packages/server/dist/start-node.js:12:3', 'server/start-node.js:12'],
  ['    at Object.run [as x] (/app/src/own-log/own-log.ts:7:1)', 'own-log/own-log.ts:7'],
  ['    at async open (/app/a b/c (d)/e.js:7:1)', 'c (d)/e.js:7'],
  ['    at load (C:\\app\\http\\server.js:7:1)', 'http/server.js:7'],
  ['    at load (file:///app/http/server.js?v=1:7:1)', 'http/server.js:7'],
  ['    at listOnTimeout (node:internal/timers:581:17)', 'node:internal/timers:581'],
  ['    at /x.js:1:1', 'x.js:1'],
  ['    at a\tb (/app/f\x1b[1m/x.js:1:1)', 'f\\u001b[1m/x.js:1'],
  ['    at new Promise (<anonymous>)', '-'],
  ['Error', '-'],
])('%s is shown as %s', (frame, site) => {
  expect(shortenFrame(frame === 'Error' ? frame : `Error\n${frame}`)).toBe(site);
});

const FRAME = 'Error\n    at start (file:///app/lib/chunk-ABC.js:12:7)';

test('a place in a bundle is the place the code was written at', () => {
  const file = join(tempDir(), 'places.json');
  writeFileSync(file, '{"chunk-ABC.js:12":"../../server/dist/start-node.js:54"}');
  const locations = new SourceLocations(pathToFileURL(file));
  expect(locations.resolve(FRAME)).toBe('Error\n    at ../../server/dist/start-node.js:54:1');
  const other = FRAME.replace(':12:', ':13:');
  expect(locations.resolve(other)).toBe(other);
});

test('without a list the frame stays as it is', () => {
  expect(new SourceLocations(pathToFileURL(join(tempDir(), 'absent'))).resolve(FRAME)).toBe(FRAME);
});
