import { expect, it } from 'vitest';
import { shortFingerprint, showValue } from './setting-values.ts';

it.each([
  ['30s', { text: '30s', kind: 'value', fingerprint: null }],
  [8, { text: '8', kind: 'value', fingerprint: null }],
  [['a', 1], { text: '["a",1]', kind: 'value', fingerprint: null }],
  [null, { text: 'absent', kind: 'absent', fingerprint: null }],
  ['', { text: 'empty', kind: 'empty', fingerprint: null }],
  ['******', { text: '******', kind: 'secret', fingerprint: null }],
  ['****** (fingerprint a41f00)', { text: '******', kind: 'secret', fingerprint: 'a41f00' }],
  ['http://u:******@h (fingerprint 07c2)', { text: 'http://u:******@h', kind: 'secret', fingerprint: '07c2' }],
  ['mine (fingerprint 07c2)', { text: 'mine (fingerprint 07c2)', kind: 'value', fingerprint: null }],
])('formats %j', (value, shown) => {
  expect(showValue(value)).toEqual(shown);
});

it('a fingerprint is short enough for a cell', () => {
  expect(shortFingerprint('a41f00c2d3')).toBe('a41f');
});
