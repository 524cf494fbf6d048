import { describe, expect, it } from 'vitest';
import { CLOCK, describeRefusal } from '../testing/describe-refusal.ts';
import { timestamp } from './codecs.ts';

describe('a timestamp parameter', () => {
  const parse = (texts: string[]) => timestamp.parse(texts, '"from"', { clock: CLOCK });

  it('is absent where it is not given or empty', () => {
    expect(parse([])).toBeUndefined();
    expect(parse([''])).toBeUndefined();
  });

  it('names the accepted forms when it is refused', () => {
    expect(describeRefusal(() => parse(['noon']))).toMatch(
      /^PARAMETER_INVALID: invalid "from" "noon": expected RFC 3339, .* 15m .* or now$/,
    );
  });
});
