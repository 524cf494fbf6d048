import { expect, it } from 'vitest';
import { CONTRACT_ROLE } from '../membership/static-members.ts';
import { member } from '../state/testing/fake-deps.ts';
import { Recorders, Rendezvous } from './recorders.ts';

const IDS = Array.from({ length: 200 }, (_, place) => `node-${place}`);
const ALL = IDS.map((id) => ({ id }));

it('recorders are spread evenly, and each node finds itself among them', () => {
  const rendezvous = new Rendezvous();
  const load = new Map<string, number>();
  for (const id of IDS) {
    const chosen = rendezvous.choose(id, { candidates: ALL, count: 3 });
    expect(new Set([...chosen, id]).size).toBe(4);
    const among = IDS.filter((each) => rendezvous.isAmong(id, each, { candidates: ALL, count: 3 }));
    expect(among.sort()).toEqual(chosen.toSorted());
    for (const each of chosen) load.set(each, (load.get(each) ?? 0) + 1);
  }
  expect(Math.max(...load.values())).toBeLessThanOrEqual(12);
  expect(load.size).toBeGreaterThan(180);
});

it('a node that leaves is replaced by the next recorder, and nothing else changes', () => {
  const rendezvous = new Rendezvous();
  const left = 'node-17';
  const rest = IDS.filter((id) => id !== left);
  for (const id of rest) {
    const before = rendezvous.choose(id, { candidates: ALL, count: 4 });
    const expected = before.filter((each) => each !== left).slice(0, 3);
    expect(new Rendezvous().choose(id, { candidates: rest.map((each) => ({ id: each })), count: 3 })).toEqual(expected);
  }
});

it('contract-only members record nothing: of LinDB nodes, this one records all', () => {
  const recorded = (kind: 'static' | 'lindb', role: string, failed: readonly string[] = []) => {
    const members = [member('self', { isSelf: true }), ...IDS.map((id) => member(id, { role }))];
    const directory = { members, state: { kind, state: 'ok', detail: null, asOfMs: 0 } as const };
    const peers = {
      all: () => members.map((each) => ({ member: each, hasFailed: failed.includes(each.id) }) as never),
    };
    const recorders = new Recorders({ directory, peers, selfId: 'self', count: 2, directMembers: 16, failedMs: 0 });
    return IDS.filter((id) => recorders.records(id)).length;
  };
  expect([recorded('lindb', 'broker'), recorded('static', CONTRACT_ROLE)]).toEqual([200, 200]);
  expect(recorded('static', 'node')).toBeLessThan(20);
  // Those that do not respond are replaced.
  expect(recorded('static', 'node', IDS.slice(2))).toBeGreaterThan(100);
});

it('recorders are in another zone than the member, if there are any', () => {
  const zoned = IDS.map((id, place) => ({ id, zone: `z${place % 3}` }));
  const rendezvous = new Rendezvous();
  for (const { id, zone } of zoned) {
    const chosen = rendezvous.choose(id, { candidates: zoned, count: 2, zone });
    expect(chosen.map((each) => zoned.find((other) => other.id === each)?.zone)).not.toContain(zone);
    expect(rendezvous.isAmong(id, chosen[0] ?? '', { candidates: zoned, count: 2, zone })).toBe(true);
  }
  const alike = zoned.map(({ id }) => ({ id, zone: 'same' }));
  expect(rendezvous.choose('node-1', { candidates: alike, count: 2, zone: 'same' })).toHaveLength(2);
});
