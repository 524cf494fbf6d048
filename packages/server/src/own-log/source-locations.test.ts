import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { tempDir } from '../testing/test-node.ts';
import { SourceLocations } from './source-locations.ts';

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
