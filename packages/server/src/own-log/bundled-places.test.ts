import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { tempDir } from '../testing/test-node.ts';
import { BundledPlaces } from './bundled-places.ts';

const FRAME = 'Error\n    at start (file:///app/lib/chunk-ABC.js:12:7)';

test('a place in a bundle is the place the code was written at', () => {
  const file = join(tempDir(), 'places.json');
  writeFileSync(file, '{"chunk-ABC.js:12":"../../server/dist/start-node.js:54"}');
  const places = new BundledPlaces(pathToFileURL(file));
  expect(places.unbundled(FRAME)).toBe('Error\n    at ../../server/dist/start-node.js:54:1');
  const other = FRAME.replace(':12:', ':13:');
  expect(places.unbundled(other)).toBe(other);
});

test('without a list the frame stays as it is', () => {
  expect(new BundledPlaces(pathToFileURL(join(tempDir(), 'absent'))).unbundled(FRAME)).toBe(FRAME);
});
