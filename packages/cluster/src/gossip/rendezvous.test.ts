import { expect, it } from 'vitest';
import { Rendezvous } from './rendezvous.ts';

const IDS = Array.from({ length: 200 }, (_, place) => `node-${place}`);

it('neighbours are spread evenly, and each node finds itself among them', () => {
  const rendezvous = new Rendezvous();
  const load = new Map<string, number>();
  for (const id of IDS) {
    const neighbours = rendezvous.neighbours(id, IDS);
    expect(new Set([...neighbours, id]).size).toBe(4);
    for (const [rank, neighbour] of neighbours.entries()) {
      expect(rendezvous.rank(id, neighbour, IDS)).toBe(rank);
      load.set(neighbour, (load.get(neighbour) ?? 0) + 1);
    }
    expect(rendezvous.rank(id, id, IDS)).toBe(-1);
  }
  expect(Math.max(...load.values())).toBeLessThanOrEqual(12);
  expect(load.size).toBeGreaterThan(180);
});

it('a node that leaves is replaced by the next neighbour, and nothing else changes', () => {
  const rendezvous = new Rendezvous();
  const left = 'node-17';
  const rest = IDS.filter((id) => id !== left);
  for (const id of rest) {
    const before = rendezvous.neighbours(id, IDS, 4);
    const expected = before.filter((neighbour) => neighbour !== left).slice(0, 3);
    expect(new Rendezvous().neighbours(id, rest)).toEqual(expected);
  }
});
