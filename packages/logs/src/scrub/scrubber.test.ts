import { describe, expect, test } from 'vitest';
import { Scrubbing } from './scrubber.ts';

function masked(scrubbing: Scrubbing, text: string): string {
  const bytes = Buffer.from(text);
  scrubbing.current?.mask(bytes);
  return bytes.toString();
}

describe('a derived scrubbing', () => {
  test('masks what its parent masks, now and later, and values that its parent does not', () => {
    const node = new Scrubbing();
    node.add(['first-secret']);
    const member = node.derive();
    expect(member.current).toBe(node.current);
    member.add(['of-the-member']);
    node.add(['second-secret']);
    const text = 'first-secret second-secret of-the-member\n';
    expect(masked(member, text)).toBe(`${'*'.repeat(12)} ${'*'.repeat(13)} ${'*'.repeat(13)}\n`);
    expect(masked(node, text)).toBe(`${'*'.repeat(12)} ${'*'.repeat(13)} of-the-member\n`);
  });

  test('reports every change, until it is closed', () => {
    const node = new Scrubbing();
    const member = node.derive();
    const seen: unknown[] = [];
    member.onChange((scrubber) => seen.push(scrubber));
    node.add(['first-secret']);
    expect(seen).toEqual([node.current]);
    member.add(['of-the-member']);
    node.add(['second-secret']);
    expect(seen).toHaveLength(3);
    expect(seen.at(-1)).toBe(member.current);
    member.close();
    node.add(['third-secret']);
    expect(seen).toHaveLength(3);
  });

  test('never loses what its parent masks, however many values are added', () => {
    const node = new Scrubbing();
    node.add(['first-secret']);
    const member = node.derive();
    expect(member.add(Array.from({ length: 5000 }, (_, index) => `made up, number ${index}`))).toBeGreaterThan(0);
    expect(masked(member, 'first-secret\n')).toBe(`${'*'.repeat(12)}\n`);
  });
});
