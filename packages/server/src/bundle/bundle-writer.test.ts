import { describe, expect, it } from 'vitest';
import { EntryNames } from './bundle-writer.ts';

describe('names within an archive', () => {
  it.each([
    ['broker.log', 'broker.log'],
    ['db-1:7300', 'db-1_7300'],
    ['..', '_'],
    ['.', '_'],
    ['.hidden', '_hidden'],
    ['../../etc/passwd', '__.._etc_passwd'],
    ['..\\..\\boot.ini', '__.._boot.ini'],
    ['/etc/passwd', '_etc_passwd'],
    ['C:\\x', 'C__x'],
    ['-rf', '_rf'],
    ['a\nb\u0000c\u202ed', 'a_b_c_d'],
    ['größe.log', 'gr__e.log'],
    ['NUL', '_NUL'],
    ['con.log', '_con.log'],
    ['end.', 'end_'],
    ['', '_'],
    ['x'.repeat(300), 'x'.repeat(120)],
  ])('%j is %j', (given, name) => {
    expect(new EntryNames().take(['logs', given])).toBe(`logs/${name}`);
  });

  it('never give two things the same name, also where case does not count', () => {
    const names = new EntryNames();
    const given = ['a:b', 'a_b', 'A_b', 'a b'].map((part) => names.take(['config', part], '.toml'));
    expect(given).toEqual(['config/a_b.toml', 'config/a_b-2.toml', 'config/A_b-3.toml', 'config/a_b-4.toml']);
    expect(names.take(['config', 'a_b'], '.json')).toBe('config/a_b.json');
  });
});
