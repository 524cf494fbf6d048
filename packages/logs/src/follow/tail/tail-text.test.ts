import { expect, test } from 'vitest';
import { BUILT_IN_FORMATS } from '../../parse/detect-format.ts';
import { createZone } from '../../parse/zone.ts';
import { TailText } from './tail-text.ts';

test('a followed log keeps no more of its text than identifies it: a node may follow thousands', () => {
  const bytes = 1024 * 1024;
  const format = BUILT_IN_FORMATS.create('text', { zone: createZone(), writtenMs: 0 });
  const head = Buffer.alloc(bytes, 'a');
  const text = new TailText({ name: 'a.log', offset: bytes, head, format, scrubber: () => undefined, before: head });
  expect(text.head.length).toBe(1024);
  expect(text.head.buffer.byteLength).toBeLessThan(64 * 1024);
});
