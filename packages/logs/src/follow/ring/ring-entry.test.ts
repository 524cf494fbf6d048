import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CHECK_BYTES, encodeMark, fnv1a } from '../../cursor/cursor.ts';
import { markFile } from '../../cursor/file-mark.ts';
import { CursorMaker } from './ring-entry.ts';

test('CursorMaker encodes the same cursors as encodeMark', () => {
  const bytes = fc.uint8Array({ maxLength: 100 });
  fc.assert(
    fc.property(bytes, fc.string({ minLength: 1, maxLength: 40 }), fc.nat(), bytes, (head, file, offset, record) => {
      const mark = markFile(head);
      const checkBytes = Math.min(CHECK_BYTES, record.length);
      const check = fnv1a(record, 0, checkBytes);
      const made = new CursorMaker(mark, file).at(offset, Buffer.from(record));
      expect(made).toBe(encodeMark({ ...mark, file, offset, check, checkBytes }));
    }),
  );
});
