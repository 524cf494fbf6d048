import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileLineLayout, LineMatcher } from './line-layout.ts';

test('a field ends at the first occurrence of the text after it', () => {
  const letters = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 6 }).map((list) => list.join(''));
  const lines = fc.array(fc.constantFrom('a', 'b'), { maxLength: 30 }).map((list) => list.join(''));
  fc.assert(
    fc.property(letters, lines, (text, line) => {
      const matcher = new LineMatcher(compileLineLayout(`{first?}${text}{rest?}`), () => false, undefined);
      const bytes = Buffer.from(line);
      const at = line.indexOf(text);
      expect(matcher.match(bytes, 0, bytes.length)).toBe(at < 0 ? -1 : bytes.length);
      if (at < 0) return;
      const fields = Object.fromEntries(matcher.fields(bytes).map(({ name, value }) => [name, value]));
      expect([fields.first ?? '', fields.rest ?? '']).toEqual([line.slice(0, at), line.slice(at + text.length)]);
    }),
  );
});
