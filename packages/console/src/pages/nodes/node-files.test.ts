import type { LogFileDetails } from '@porthole/logs/types';
import type { ComponentChildren, VNode } from 'preact';
import { expect, test } from 'vitest';
import type { NodeFile } from './file-families.ts';
import { growthText, LearnedFormatView } from './node-files.tsx';

const FILE: LogFileDetails = {
  ...{ name: 'app.log', size: 9, family: 'app.log', state: 'live', compressed: false, format: 'iso', problem: null },
  ...{ modifiedMs: 0, firstTimeMs: null, lastTimeMs: null },
  learned: {
    facts: [{ label: 'Zone', text: 'UTC, assumed: the timestamps have none', doubt: true }],
    samples: [
      [
        { kind: 'time', text: '2026-11-17 18:33:04' },
        { kind: 'other', text: ' ' },
        { kind: 'message', text: 'a\u001b[31mred' },
      ],
    ],
    unfit: ['Caused by: x'],
    example: '[[log.formats]]\n',
  },
};

/** The elements of a tree, each with its own text. */
function elementsOf(node: ComponentChildren): { props: Record<string, unknown>; text: string }[] {
  if (Array.isArray(node)) return node.flatMap(elementsOf);
  if (typeof node !== 'object' || node === null) return [];
  const { props } = node as VNode<Record<string, unknown>>;
  const children = [props.children].flat(2) as ComponentChildren[];
  const text = children.filter((child) => typeof child === 'string').join('');
  return [{ props, text }, ...children.flatMap(elementsOf)];
}

test('shows facts, samples with their parts, lines that do not fit and an example', () => {
  const elements = elementsOf(LearnedFormatView({ file: FILE }));
  expect(elements.map(({ props }) => props.class)).toContain('warning wraps');
  const parts = elements.filter(({ props }) => String(props.class).startsWith('part-'));
  expect(parts.map(({ props, text }) => [props['data-kind'], text])).toEqual([
    ['time', '2026-11-17 18:33:04'],
    [undefined, ' '],
    ['message', 'a␛[31mred'],
  ]);
  const texts = elements.map(({ text }) => text);
  expect(texts).toContain('UTC, assumed: the timestamps have none');
  expect(texts).toContain('Caused by: x');
  expect(texts).toContain('[[log.formats]]\n');
});

test.each([
  [{ problem: 'permission denied' }, 'permission denied'],
  [{}, 'This node does not report more of its files; update it.'],
])('says why nothing is known: %j', (given, text) => {
  const { learned: _learned, ...file } = FILE;
  expect(elementsOf(LearnedFormatView({ file: { ...file, ...given } })).map((element) => element.text)).toEqual([text]);
});

test('growth is measured; until then it is the average, and a rotated file has none', () => {
  const { learned: _learned, ...known } = FILE;
  const file: NodeFile = { ...known, node: 'a', size: 4000, firstTimeMs: 0, lastTimeMs: 120_000 };
  const first = (size: number) => ({ atMs: 0, sizes: new Map([['app.log', size]]) });
  expect(growthText(file, first(1000), 30_000)).toBe('+5.9 KiB/min');
  expect(growthText(file, first(4000), 30_000)).toBe('unchanged');
  expect(growthText(file, first(9000), 30_000)).toBe('started anew');
  expect(growthText(file, first(4000), 0)).toBe('about 2.0 KiB/min');
  expect(growthText({ ...file, lastTimeMs: null }, undefined, 0)).toBeNull();
  expect(growthText({ ...file, state: 'rotated' }, first(1000), 30_000)).toBeNull();
});
