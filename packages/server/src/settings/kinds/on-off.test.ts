import { describeKind } from '../testing/describe-kind.ts';
import { onOff } from './on-off.ts';

describeKind('boolean', {
  kind: onOff(),
  text: [
    ['true', true],
    ['Yes', true],
    ['on', true],
    ['1', true],
    ['FALSE', false],
    ['no', false],
    ['off', false],
    ['0', false],
  ],
  toml: [
    [true, true],
    [false, false],
  ],
  refusedText: ['', '2', 'y', ' true', 'enabled'],
  refusedToml: ['true', 1n, 0n],
});
