import { describe, expect, test } from 'vitest';
import type { SourceChoice } from '../../state/view.ts';
import type { NodeLogs } from '../nodes/file-families.ts';
import { isFamilyPicked, isNodePicked, pickFamily, pickNode, pickNodes, unlistedChoices } from './source-chooser.tsx';

const log = (name: string) => ({ name, files: [], sizeBytes: 1, firstTimeMs: null, lastTimeMs: null });
const LOGS: NodeLogs[] = [
  { node: 'a', families: [log('x.log'), log('y.log')] },
  { node: 'b', families: [log('x.log')] },
];
const family = (node: string, name: string): SourceChoice => ({ node, log: { kind: 'family', name } });
const all = (node: string): SourceChoice => ({ node, log: null });

describe('the list of logs', () => {
  test('checks logs selected by node, pattern or name', () => {
    expect(isFamilyPicked([all('a')], 'a', 'x.log')).toBe(true);
    expect(isNodePicked([all('*')], 'b')).toBe(true);
    expect(isFamilyPicked([family('?', 'x.log')], 'b', 'x.log')).toBe(true);
    expect(isFamilyPicked([family('a', 'x.log')], 'b', 'x.log')).toBe(false);
    expect(isNodePicked([family('a', 'x.log')], 'a')).toBe(false);
  });

  test('deselects one log of a node, and one node of a pattern', () => {
    expect(pickFamily([all('a')], LOGS, { node: 'a', family: 'x.log' }, false)).toEqual([family('a', 'y.log')]);
    expect(pickNode([all('*')], LOGS, 'a', false)).toEqual([all('b')]);
    expect(pickFamily([family('*', 'x.log')], LOGS, { node: 'b', family: 'x.log' }, false)).toEqual([
      family('a', 'x.log'),
    ]);
  });

  test('replaces single logs when the whole node is selected', () => {
    expect(pickNode([family('a', 'x.log'), all('b')], LOGS, 'a', true)).toEqual([all('b'), all('a')]);
    expect(pickNodes([family('a', 'x.log')], LOGS, LOGS, true)).toEqual([all('a'), all('b')]);
    expect(pickNodes([all('*')], LOGS, LOGS, false)).toEqual([]);
  });

  test('shows selections that are not in the list', () => {
    const file: SourceChoice = { node: 'a', log: { kind: 'file', name: 'x.log.1' } };
    const gone = family('gone', 'x.log');
    expect(unlistedChoices([file, gone, all('a'), family('b', 'x.log'), family('b', 'y.log')], LOGS)).toEqual([
      file,
      gone,
      family('b', 'y.log'),
    ]);
  });
});
