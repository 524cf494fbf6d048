import { describe, expect, it } from 'vitest';
import { createMatcher } from './create-matcher.ts';

const findMatches = async (
  text: string,
  whole: string,
  more: { isRegex?: boolean; isCaseSensitive?: boolean } = {},
) => {
  const matcher = await createMatcher({ text, isRegex: false, isCaseSensitive: false, ...more });
  return matcher(whole).map(({ start, end }) => whole.slice(start, end));
};

describe('matches in a text', () => {
  it('ignore case unless requested', async () => {
    expect(await findMatches('time', 'Time and TIMEOUT')).toEqual(['Time', 'TIME']);
    expect(await findMatches('TIME', 'Time and TIMEOUT', { isCaseSensitive: true })).toEqual(['TIME']);
  });

  it('have correct offsets after letters that are longer in lower case', async () => {
    expect(await findMatches('ÜBER', 'İİ über')).toEqual(['über']);
  });

  it('treat regex characters in a plain text literally', async () => {
    expect(await findMatches('a.*(b', 'aab a.*(b')).toEqual(['a.*(b']);
  });

  it('do not overlap', async () => {
    expect(await findMatches('aa', 'aaaaa')).toEqual(['aa', 'aa']);
  });

  it('of an empty text are empty', async () => {
    expect(await findMatches('', 'abc')).toEqual([]);
  });

  it('of a regex follow the rules of the API', async () => {
    expect(await findMatches('^b\\d+', 'a1\nB22 b3', { isRegex: true })).toEqual(['B22']);
    expect(await findMatches('^b\\d+', 'a1\nB22\nb3', { isRegex: true, isCaseSensitive: true })).toEqual(['b3']);
    expect(await findMatches('x*', 'xx', { isRegex: true })).toContain('xx');
  });

  it('of a regex prone to backtracking come at once', async () => {
    expect(await findMatches('(a+)+$', `${'a'.repeat(5000)}!`, { isRegex: true })).toEqual([]);
  });

  it('of an invalid regex fail with the code of the API', async () => {
    await expect(findMatches('(?=a)', 'a', { isRegex: true })).rejects.toMatchObject({
      code: 'REGEX_INVALID',
      message: expect.not.stringContaining('(?m)'),
    });
  });
});
