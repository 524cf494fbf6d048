import { describe, expect, test } from 'vitest';
import { fileFamilies, matchingFamilies, type NodeFile } from './file-families.ts';

const file = (name: string, given: Partial<NodeFile> = {}): NodeFile => ({
  node: 'a',
  name,
  size: 10,
  modifiedMs: 1,
  family: 'lind.log',
  state: 'rotated',
  compressed: false,
  format: 'contract',
  firstTimeMs: null,
  lastTimeMs: null,
  problem: null,
  ...given,
});

const FILES = [
  file('lind-1.log.gz', { firstTimeMs: 100, lastTimeMs: 200 }),
  file('access.log', { family: 'access.log', state: 'live', lastTimeMs: 900 }),
  file('lind-2.log', { firstTimeMs: 200, lastTimeMs: 300 }),
  file('lind.log', { state: 'live', firstTimeMs: 300, lastTimeMs: 400 }),
];

describe('families of files', () => {
  test('are sorted by last write, with the live file first', () => {
    const families = fileFamilies(FILES);
    expect(families.map(({ name }) => name)).toEqual(['access.log', 'lind.log']);
    expect(families[1]?.files.map(({ name }) => name)).toEqual(['lind.log', 'lind-2.log', 'lind-1.log.gz']);
    expect(families[1]).toMatchObject({ sizeBytes: 30, firstTimeMs: 100, lastTimeMs: 400 });
  });

  test('without times have none', () => {
    expect(fileFamilies([file('x.log')])).toMatchObject([{ firstTimeMs: null, lastTimeMs: null }]);
  });

  test('are found by their own name, or by those of their files', () => {
    const families = fileFamilies(FILES);
    expect(matchingFamilies(families, ' LIND.log')[0]?.files).toHaveLength(3);
    expect(matchingFamilies(families, '.gz').flatMap(({ files }) => files.map(({ name }) => name))).toEqual([
      'lind-1.log.gz',
    ]);
    expect(matchingFamilies(families, '')).toHaveLength(2);
    expect(matchingFamilies(families, 'nothing')).toEqual([]);
  });
});
