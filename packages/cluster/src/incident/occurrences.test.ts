import type { EventKind } from '@porthole/contract';
import { expect, it } from 'vitest';
import type { ClusterEvent } from './incident-requests.ts';
import { occurrenceTitle, toOccurrences } from './occurrences.ts';
import { type StepsInput, toSteps } from './steps.ts';

function event(node: string, kind: EventKind, second: number, fields: ClusterEvent['fields'] = {}): ClusterEvent {
  return { node, kind, timeMs: second * 1000, message: kind, fields, record: null };
}

it('a node that is lost some time after its start was not restarted; one that is back soon was', () => {
  const lost = toOccurrences([event('a', 'started', 0), event('b', 'member-lost', 60, { member: 'a' })]);
  expect(lost.map(occurrenceTitle)).toEqual(['a started', 'a stopped responding']);
  const restarted = toOccurrences([event('a', 'stopped', 0), event('a', 'started', 5)]);
  expect(restarted.map(occurrenceTitle)).toEqual(['a restarted']);
});

it('nodes that are killed one after another are several things in order of time, and one that stands out', () => {
  const events = ['a', 'b', 'c'].map((node, index) => event(node, 'killed', index * 60));
  expect(toOccurrences(events).map(occurrenceTitle)).toEqual(['a was killed', 'b was killed', 'c was killed']);
  expect(toOccurrences(events, { joinsKills: true }).map(occurrenceTitle)).toEqual(['3 nodes were killed']);
});

it('who saw the parts of a restart is said once', () => {
  const seen = (kind: EventKind, second: number) => {
    const own = event('b', kind, second, { member: 'a', seenBy: ['b', 'c'] });
    return { ...own, message: `${kind} (seen by b, c)` };
  };
  const occurrences = toOccurrences([seen('member-left', 0), event('a', 'started', 2), seen('member-back', 4)]);
  const steps = toSteps({
    occurrences,
    patterns: [],
    usualFields: new Set(),
    history: new Map(),
    window: { fromMs: 0, toMs: 9000 } as StepsInput['window'],
  });
  expect(steps.map(({ detail }) => detail)).toEqual(['back after 2 s · member-left · seen by b, c']);
});

it('a loss says why, when the node was back and who saw it, and not again that it was lost', () => {
  const lost = {
    ...event('a', 'killed', 0, { seenBy: ['b'] }),
    message: 'a was lost: no connection; the node ended without stopping: the process was killed (seen by b)',
  };
  const occurrences = toOccurrences([lost, event('a', 'started', 4, { version: '1.2' })]);
  const window = { fromMs: 0, toMs: 9000 } as StepsInput['window'];
  expect(toSteps({ occurrences, patterns: [], usualFields: new Set(), history: new Map(), window })).toMatchObject([
    {
      title: 'a was killed',
      detail: 'no connection · the process was killed · back after 4 s, version 1.2 · seen by b',
    },
  ]);
});
