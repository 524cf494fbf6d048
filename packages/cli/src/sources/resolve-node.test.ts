import { expect, it } from 'vitest';
import { parseNodeRef } from './resolve-node.ts';

const IDS = ['broker-1', 'broker-2', 'storage-1', '10.8.0.21', '10.8.0.21:2891', 'a+b'];

it.each<[string, string | undefined, string | undefined, string[]]>([
  ['broker-1:a.log', 'broker-1', 'a.log', ['broker-1']],
  ['broker-1:', 'broker-1', undefined, ['broker-1']],
  ['broker-*:', 'broker-*', undefined, ['broker-1', 'broker-2']],
  ['storage-?:a.log', 'storage-?', 'a.log', ['storage-1']],
  ['*:a.log', '*', 'a.log', IDS],
  ['broker-1:a:b.log', 'broker-1', 'a:b.log', ['broker-1']],
  // The longest beginning that is a member.
  ['10.8.0.21:2891', '10.8.0.21:2891', undefined, ['10.8.0.21:2891']],
  ['10.8.0.21:2891:', '10.8.0.21:2891', undefined, ['10.8.0.21:2891']],
  ['10.8.0.21:2891:a.log', '10.8.0.21:2891', 'a.log', ['10.8.0.21:2891']],
  ['10.8.0.21:a.log', '10.8.0.21', 'a.log', ['10.8.0.21']],
  ['10.8.0.*:2891:a.log', '10.8.0.*:2891', 'a.log', ['10.8.0.21:2891']],
  ['a+b:', 'a+b', undefined, ['a+b']],
])('%s is %s and %s', (word, node, file, ids) => {
  expect(parseNodeRef(word, IDS)).toEqual({ node, file, ids });
});

it.each(['broker-1', 'broker-9:a.log', 'aab:', ':a.log', 'a.log', ''])('%j names no member', (word) => {
  expect(parseNodeRef(word, IDS)).toBeUndefined();
});
