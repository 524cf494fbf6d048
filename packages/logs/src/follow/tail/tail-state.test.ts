import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type TailEvent, type TailState, TRANSITIONS, transition, unreadableEvent } from './tail-state.ts';

const STATES = Object.keys(TRANSITIONS) as TailState[];
const EVENTS = Object.keys(TRANSITIONS.starting) as TailEvent[];
const UNREADABLE: readonly TailEvent[] = ['unreadable', 'unreadable-long', 'unreadable-very-long'];

/** Every transition: state, event, next state, actions in order. */
const EXPECTED: [TailState, TailEvent, TailState, ...string[]][] = [
  ['starting', 'other-file', 'reading', 'open-first'],
  ['starting', 'unreadable', 'waiting'],
  ['starting', 'defect', 'failed', 'fail'],
  ['starting', 'stop', 'stopped'],
  ['waiting', 'other-file', 'reading', 'open-created'],
  ['waiting', 'unreadable', 'waiting'],
  ['waiting', 'defect', 'failed', 'fail'],
  ['waiting', 'stop', 'stopped'],
  ['reading', 'same-file', 'reading'],
  ['reading', 'other-file', 'reading', 'replace'],
  ['reading', 'unreadable', 'missing', 'drain'],
  ['reading', 'unreadable-long', 'reported', 'drain', 'report-missing'],
  ['reading', 'unreadable-very-long', 'released', 'drain', 'report-missing', 'release'],
  ['reading', 'truncated', 'reading', 'restart', 'poll-again'],
  ['reading', 'defect', 'failed', 'fail'],
  ['reading', 'stop', 'stopped'],
  ['missing', 'same-file', 'reading'],
  ['missing', 'other-file', 'reading', 'replace'],
  ['missing', 'unreadable', 'missing', 'drain'],
  ['missing', 'unreadable-long', 'reported', 'drain', 'report-missing'],
  ['missing', 'unreadable-very-long', 'released', 'drain', 'report-missing', 'release'],
  ['missing', 'defect', 'failed', 'fail'],
  ['missing', 'stop', 'stopped'],
  ['reported', 'same-file', 'reading'],
  ['reported', 'other-file', 'reading', 'replace'],
  ['reported', 'unreadable-long', 'reported', 'drain'],
  ['reported', 'unreadable-very-long', 'released', 'drain', 'release'],
  ['reported', 'defect', 'failed', 'fail'],
  ['reported', 'stop', 'stopped'],
  ['released', 'same-file', 'reading', 'reopen'],
  ['released', 'other-file', 'reading', 'replace'],
  ['released', 'unreadable-very-long', 'released'],
  ['released', 'defect', 'failed', 'fail'],
  ['released', 'stop', 'stopped'],
  ['failed', 'stop', 'stopped'],
  ...EVENTS.map((event): [TailState, TailEvent, TailState] => ['stopped', event, 'stopped']),
];

test.each(EXPECTED)('%s: %s leads to %s', (state, event, next, ...actions) => {
  expect(transition(state, event)).toEqual({ next, actions });
});

/** Every other pair, with the reason why it cannot occur. */
const UNREACHABLE: [TailState, readonly TailEvent[], string][] = [
  ['starting', ['same-file'], 'there is no file it could be the same as'],
  ['starting', ['unreadable-long', 'unreadable-very-long'], 'a file that was never read is not reported as missing'],
  ['starting', ['truncated'], 'only the state reading reads'],
  ['waiting', ['same-file'], 'there is no file it could be the same as'],
  ['waiting', ['unreadable-long', 'unreadable-very-long'], 'a file that was never read is not reported as missing'],
  ['waiting', ['truncated'], 'only the state reading reads'],
  ['missing', ['truncated'], 'only the state reading reads'],
  ['reported', ['unreadable'], 'the time it has been missing only grows'],
  ['reported', ['truncated'], 'only the state reading reads'],
  ['released', ['unreadable', 'unreadable-long'], 'the time it has been missing only grows'],
  ['released', ['truncated'], 'only the state reading reads'],
  ['failed', ['same-file', 'other-file', ...UNREADABLE, 'truncated', 'defect'], 'a failed tail is not polled'],
];

test.each(UNREACHABLE)('%s: %s cannot occur', (state, events, reason) => {
  for (const event of events)
    expect(() => transition(state, event)).toThrow(new TypeError(`a tail in state ${state} got ${event}: ${reason}`));
});

test('these are all pairs of states and events', () => {
  const listed = [
    ...EXPECTED.map(([state, event]) => `${state} ${event}`),
    ...UNREACHABLE.flatMap(([state, events]) => events.map((event) => `${state} ${event}`)),
  ];
  const all = STATES.flatMap((state) => EVENTS.map((event) => `${state} ${event}`));
  expect(listed.toSorted()).toEqual(all.toSorted());
});

describe('any sequence of polls', () => {
  const times = fc.record({ missingMs: fc.nat({ max: 30 }), lingerMs: fc.nat({ max: 30 }) });
  const polls = fc.array(
    fc.record({
      found: fc.constantFrom('nothing', 'same-file', 'other-file', 'truncated' as const),
      afterMs: fc.nat({ max: 20 }),
    }),
    { maxLength: 40 },
  );

  /** Drives the table as `LogTail` does. */
  function* run(found: readonly { found: string; afterMs: number }[], limits: { missingMs: number; lingerMs: number }) {
    let state: TailState = 'starting';
    let nowMs = 0;
    let sinceMs: number | undefined;
    for (const poll of found) {
      nowMs += poll.afterMs;
      const hasFile: boolean = state !== 'starting' && state !== 'waiting';
      const events: TailEvent[] = [];
      if (poll.found === 'nothing') {
        sinceMs ??= nowMs;
        events.push(unreadableEvent(state, nowMs - sinceMs, limits));
      } else {
        events.push(hasFile && poll.found !== 'other-file' ? 'same-file' : 'other-file');
        if (poll.found === 'truncated') events.push('truncated');
      }
      for (const event of events) {
        const before: TailState = state;
        const { next, actions } = transition(state, event);
        state = next;
        if (state === 'reading') sinceMs = undefined;
        yield { before, event, state, actions, missingForMs: sinceMs === undefined ? 0 : nowMs - sinceMs };
      }
    }
  }

  test('meets no unreachable pair, and is open exactly while a file was opened and not released', () => {
    fc.assert(
      fc.property(polls, times, (found, limits) => {
        let isOpen = false;
        for (const { state, actions } of run(found, limits)) {
          for (const action of actions) {
            if (action === 'drain' || action === 'release' || action === 'restart') expect(isOpen).toBe(true);
            if (action === 'open-first' || action === 'open-created') expect(isOpen).toBe(false);
            if (action === 'reopen') expect(isOpen).toBe(false);
            if (action === 'release') isOpen = false;
            if (action === 'reopen' || action === 'replace' || action.startsWith('open')) isOpen = true;
          }
          expect(isOpen).toBe(state === 'reading' || state === 'missing' || state === 'reported');
        }
      }),
    );
  });

  test('reports a missing file once, as soon as it has been missing for long, and before it is released', () => {
    fc.assert(
      fc.property(polls, times, (found, limits) => {
        let isReported = false;
        for (const { state, event, actions, missingForMs } of run(found, limits)) {
          if (state === 'reading') isReported = false;
          if (actions.includes('report-missing')) {
            expect(isReported).toBe(false);
            isReported = true;
          }
          if (actions.includes('release')) expect(isReported).toBe(true);
          const isMissing = UNREADABLE.includes(event) && state !== 'waiting';
          if (isMissing) expect(isReported).toBe(missingForMs >= limits.missingMs);
        }
      }),
    );
  });
});
