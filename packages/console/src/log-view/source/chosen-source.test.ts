import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SourceChoice } from '../../state/view.ts';
import { disjointChoices, mayOverlap } from './chosen-source.ts';

const IDS = ['a1', 'a2', 'b1'];

const FILES = IDS.flatMap((node) => [
  { node, name: 'x.log', family: 'x.log' },
  { node, name: 'x.log.1', family: 'x.log' },
  { node, name: 'y.log', family: 'y.log' },
]);

const family = (node: string, name: string): SourceChoice => ({ node, log: { kind: 'family', name } });

const all = (node: string): SourceChoice => ({ node, log: null });

/** The files of a selection, by brute force. */
function matchingFiles({ node, log }: SourceChoice): string[] {
  const pattern = new RegExp(`^${node.replaceAll('*', '.*').replaceAll('?', '.')}$`);
  return FILES.filter((one) => pattern.test(one.node))
    .filter((one) => log === null || (log.kind === 'family' ? one.family : one.name) === log.name)
    .map((one) => `${one.node}/${one.name}`);
}

describe('overlapping selections', () => {
  test('selections without overlap need no request', () => {
    expect(mayOverlap([family('a1', 'x.log'), family('a1', 'y.log'), all('b1')])).toBe(false);
    expect(mayOverlap([all('a*'), family('b1', 'y.log')])).toBe(false);
  });

  test('every file is included once, for any selection', () => {
    const node = fc.constantFrom('a1', 'a2', 'b1', 'a*', '*', '?1');
    const log = fc.constantFrom(
      null,
      { kind: 'family' as const, name: 'x.log' },
      { kind: 'family' as const, name: 'y.log' },
      { kind: 'file' as const, name: 'x.log.1' },
      { kind: 'file' as const, name: 'y.log' },
    );
    fc.assert(
      fc.property(fc.array(fc.record({ node, log }), { minLength: 1, maxLength: 6 }), (chosen) => {
        const wanted = [...new Set(chosen.flatMap(matchingFiles))].sort();
        const made = disjointChoices(chosen, { ids: IDS, files: FILES }).flatMap(matchingFiles);
        expect(made.sort()).toEqual(wanted);
        // The same log of several nodes is one request, in which a node counts once.
        const requests = new Map(chosen.map(({ node: id, log: own }) => [`${JSON.stringify(own)} ${id}`, own]));
        const logs = [...new Set([...requests.values()].map((own) => JSON.stringify(own)))];
        const separate = logs.flatMap((own) => [
          ...new Set(chosen.filter((choice) => JSON.stringify(choice.log) === own).flatMap(matchingFiles)),
        ]);
        if (!mayOverlap(chosen)) expect(separate.sort()).toEqual(wanted);
      }),
      { seed: 18, numRuns: runs(250) },
    );
  });
});
