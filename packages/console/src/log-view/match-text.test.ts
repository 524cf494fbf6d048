import { describe, expect, it } from 'vitest';
import { createMatcher } from './match-text.ts';

const matchesOf = async (text: string, whole: string, more: { isRegex?: boolean; isCaseSensitive?: boolean } = {}) => {
  const matcher = await createMatcher({ text, isRegex: false, isCaseSensitive: false, ...more });
  return matcher(whole).map(({ start, end }) => whole.slice(start, end));
};

describe('matches in a text', () => {
  it('of a word are found whatever their case, unless it counts', async () => {
    expect(await matchesOf('time', 'Time and TIMEOUT')).toEqual(['Time', 'TIME']);
    expect(await matchesOf('TIME', 'Time and TIMEOUT', { isCaseSensitive: true })).toEqual(['TIME']);
  });

  it('are where they are, also behind letters that are longer in lower case', async () => {
    expect(await matchesOf('ÜBER', 'İİ über')).toEqual(['über']);
  });

  it('of signs that mean something in a regex are just these signs', async () => {
    expect(await matchesOf('a.*(b', 'aab a.*(b')).toEqual(['a.*(b']);
  });

  it('do not overlap', async () => {
    expect(await matchesOf('aa', 'aaaaa')).toEqual(['aa', 'aa']);
  });

  it('of nothing are none', async () => {
    expect(await matchesOf('', 'abc')).toEqual([]);
  });

  it('of a regex follow the rules of the API', async () => {
    expect(await matchesOf('^b\\d+', 'a1\nB22 b3', { isRegex: true })).toEqual(['B22']);
    expect(await matchesOf('^b\\d+', 'a1\nB22\nb3', { isRegex: true, isCaseSensitive: true })).toEqual(['b3']);
    expect(await matchesOf('x*', 'xx', { isRegex: true })).toContain('xx');
  });

  it('of a regex that would stall others come at once', async () => {
    expect(await matchesOf('(a+)+$', `${'a'.repeat(5000)}!`, { isRegex: true })).toEqual([]);
  });

  it('of a regex that is none are refused with the code of the API', async () => {
    await expect(matchesOf('(?=a)', 'a', { isRegex: true })).rejects.toMatchObject({
      code: 'REGEX_INVALID',
      message: expect.not.stringContaining('(?m)'),
    });
  });
});
