import { describeKind } from '../testing/describe-kind.ts';
import { list } from './list.ts';
import { host } from './text-kinds.ts';

describeKind('list of hosts', {
  kind: list(host(), { plural: 'hosts' }),
  text: [
    ['', []],
    ['a', ['a']],
    ['a, B ,,c,', ['a', 'b', 'c']],
  ],
  toml: [
    [[], []],
    [
      ['a', 'B'],
      ['a', 'b'],
    ],
  ],
  refusedText: ['a b', 'a,http://x', Array.from({ length: 257 }, () => 'a').join(',')],
  refusedToml: ['a', [1n], ['a', ''], [['a']], Array.from({ length: 257 }, () => 'a')],
});
