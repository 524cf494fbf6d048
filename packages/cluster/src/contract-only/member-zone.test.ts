import { createZone } from '@porthole/logs';
import { expect, it } from 'vitest';
import { MemberZone, type WrittenTime } from './member-zone.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 6, 15, 12);

/** A record written now by a member in this zone, seen between two listings that are 30 s apart. */
function written(offsetMs: number, facts: Partial<WrittenTime> & { agoMs?: number } = {}): WrittenTime {
  const { agoMs = 1000, ...more } = facts;
  const localMs = NOW_MS - agoMs + offsetMs;
  return { file: 'a.log', localMs, fromMs: NOW_MS - 30_000, toMs: NOW_MS, newestLocalMs: localMs, ...more };
}

function learn(...times: readonly WrittenTime[]) {
  const zone = new MemberZone({ assumed: createZone('Europe/Berlin') });
  for (const time of times) zone.note(time);
  const { zone: used, source } = zone.inUse;
  return [used.name, source];
}

it.each([
  [8, 'UTC+08:00'],
  [0, 'UTC'],
  [5.75, 'UTC+05:45'],
  [-3.5, 'UTC-03:30'],
  [14, 'UTC+14:00'],
  // The zone of this node has this offset in July, and another one in winter.
  [2, 'Europe/Berlin'],
])('what is written now tells the zone: %d h', (hours, name) => {
  expect(learn(written(hours * HOUR_MS))).toEqual([name, 'learned']);
});

it.each([
  ['is not near a zone', written(0, { agoMs: 7 * 60_000 })],
  ['is of another day', written(0, { agoMs: 24 * HOUR_MS })],
  ['may be of several zones', written(0, { fromMs: NOW_MS - 15 * 60_000 })],
  ['is an hour old, while others are not', written(0, { agoMs: HOUR_MS, newestLocalMs: NOW_MS - 30_000 })],
])('a time teaches nothing that %s', (_name, time) => {
  expect(learn(time)).toEqual(['Europe/Berlin', 'assumed']);
});

it('files that disagree leave it open, until those of before are old', () => {
  const [utc, shanghai] = [written(0, { file: 'b.log' }), written(8 * HOUR_MS)];
  expect(learn(utc, shanghai)).toEqual(['Europe/Berlin', 'assumed']);
  const laterMs = 11 * 60_000;
  const later = {
    ...shanghai,
    localMs: shanghai.localMs + laterMs,
    newestLocalMs: shanghai.newestLocalMs + laterMs,
    fromMs: shanghai.fromMs + laterMs,
    toMs: shanghai.toMs + laterMs,
  };
  expect(learn(utc, shanghai, later)).toEqual(['UTC+08:00', 'learned']);
});

it('a zone of the settings is not overruled', () => {
  const zone = new MemberZone({ assumed: createZone('UTC'), set: createZone('Asia/Shanghai') });
  zone.note(written(0));
  expect(zone.inUse).toMatchObject({ zone: { name: 'Asia/Shanghai' }, source: 'set' });
});
