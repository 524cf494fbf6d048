import { expect, it } from 'vitest';
import { CONTRACT_ROLE } from '../../membership/static-members.ts';
import { member } from '../testing/fake-deps.ts';
import { Rendezvous, SnapshotKeepers } from './snapshot-keepers.ts';

const IDS = Array.from({ length: 200 }, (_, place) => `node-${place}`);

it('keepers are spread evenly, and each node finds itself among them', () => {
  const rendezvous = new Rendezvous();
  const load = new Map<string, number>();
  for (const id of IDS) {
    const chosen = rendezvous.choose(id, { candidates: IDS, count: 3 });
    expect(new Set([...chosen, id]).size).toBe(4);
    const among = IDS.filter((each) => rendezvous.isAmong(id, each, { candidates: IDS, count: 3 }));
    expect(among.sort()).toEqual(chosen.toSorted());
    for (const each of chosen) load.set(each, (load.get(each) ?? 0) + 1);
  }
  expect(Math.max(...load.values())).toBeLessThanOrEqual(12);
  expect(load.size).toBeGreaterThan(180);
});

it('a node that leaves is replaced by the next keeper, and nothing else changes', () => {
  const rendezvous = new Rendezvous();
  const left = 'node-17';
  const rest = IDS.filter((id) => id !== left);
  for (const id of rest) {
    const before = rendezvous.choose(id, { candidates: IDS, count: 4 });
    const expected = before.filter((each) => each !== left).slice(0, 3);
    expect(new Rendezvous().choose(id, { candidates: rest, count: 3 })).toEqual(expected);
  }
});

it('contract-only members keep nothing: of LinDB nodes, this one keeps all', () => {
  const keeping = (kind: 'static' | 'lindb', role: string) => {
    const members = [member('self', { isSelf: true }), ...IDS.map((id) => member(id, { role }))];
    const directory = { members, state: { kind, state: 'ok', detail: null, asOfMs: 0 } as const };
    const keepers = new SnapshotKeepers({ directory, selfId: 'self', directMembers: 16 });
    return IDS.filter((id) => keepers.keeps(id)).length;
  };
  expect([keeping('lindb', 'broker'), keeping('static', CONTRACT_ROLE)]).toEqual([200, 200]);
  expect(keeping('static', 'node')).toBeLessThan(20);
});
