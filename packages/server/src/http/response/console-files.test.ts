import { describe, expect, it } from 'vitest';
import { chooseEncoding } from './console-files.ts';

describe('the encoding for a client that says', () => {
  it.each([
    { header: undefined, chosen: undefined },
    { header: '', chosen: undefined },
    { header: 'gzip, deflate, br, zstd', chosen: 'br' },
    { header: 'gzip, deflate', chosen: 'gzip' },
    { header: 'GZIP', chosen: 'gzip' },
    { header: '*', chosen: 'br' },
    { header: '*;q=0.5, br;q=0', chosen: 'gzip' },
    { header: 'br;q=0.5, gzip;q=0.8', chosen: 'gzip' },
    { header: 'br ; q=1.000 , gzip', chosen: 'br' },
    { header: 'br;q=0, gzip;q=0', chosen: undefined },
    { header: '*;q=0', chosen: undefined },
    { header: 'identity, gzip;q=0.5', chosen: undefined },
    { header: 'identity;q=0.5, gzip;q=0.5', chosen: 'gzip' },
    { header: 'identity;q=0', chosen: undefined },
    { header: 'identity', chosen: undefined },
    { header: 'brr, xbr, br-x', chosen: undefined },
    { header: 'br;q=high, gzip;q=0.1', chosen: 'gzip' },
    { header: 'br;q=7, gzip;q=-1', chosen: undefined },
    { header: ',,;;,=', chosen: undefined },
  ])('$header is $chosen', ({ header, chosen }) => {
    expect(chooseEncoding(header, ['br', 'gzip'])).toBe(chosen);
  });

  it('is only one that is there', () => {
    expect(chooseEncoding('br, gzip;q=0.1', ['gzip'])).toBe('gzip');
    expect(chooseEncoding('br, gzip', [])).toBeUndefined();
  });
});
