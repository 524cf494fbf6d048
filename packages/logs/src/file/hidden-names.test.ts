import { expect, it } from 'vitest';
import { createHiddenNames } from './hidden-names.ts';

it.each([
  'audit.log',
  'AUDIT.Log',
  'audit.log.1',
  'audit.log.12345',
  'audit.log.1.gz',
  'audit.log.gz',
  'audit.log.2.bz2',
  'audit.log.3.zst',
  'audit.log.old',
  'audit.log~',
  'audit.log-20261115',
  'audit.log-20261115.gz',
  'audit.log.2026-11-15',
  'audit-2026-11-15.log',
  'audit-2026-11-15.log.1.gz',
  'audit-2026-11-15T00-21-26.600.log',
  'audit-2026-11-15T00-21-26.600.log.gz',
  '.audit-2026-11-15T00-21-26.600.log.gz.77-0a0b0c0d.tmp',
  'audit.1.log',
  'audit.old.log',
  'audit1.log',
  'audit-404.log',
  'audit_2.log',
  'audit (1).log',
  'audit copy 2.log',
  'audit - Copy.log',
  'Copy of audit.log',
  'Copy (2) of audit.log',
  'Kopie von audit.log',
  'backup-audit.log',
  '2026-11-15-audit.log',
  '20261115audit.log',
  '2026-11-15T00:21:26Z-audit.log',
  '1_audit.log.gz',
  '#audit.log#',
  '.#audit.log',
  '.audit.log.swp',
  '.audit.log.Ab3dE2',
  '~audit.log',
  'audit.log.bak',
  'audit.log.orig',
  'audit.log.save.1',
  'audit.log (copy)',
  'audit.log1',
  'audit.log@4000000056d6d6d6',
  'audit.log,v',
  '%audit.log%',
  '\uff41udit.log',
])('"audit.log" hides %j', (name) => {
  expect(createHiddenNames(['audit.log'])(name)).toBe(true);
});

it.each([
  'app.log',
  'audit',
  'audit.txt',
  'my-audit.log',
  'auditor.log',
  'auditxlog',
  'auditlog',
  'log',
  '1.log',
  'copy of.log',
])('"audit.log" does not hide %j', (name) => {
  expect(createHiddenNames(['audit.log'])(name)).toBe(false);
});

it('patterns support "*" and "?"; all other characters are literal', () => {
  const isHidden = createHiddenNames(['aud*.log', 'x?.txt', 'a+(b)[c].log', 'd-{e}$^|\\.log']);
  expect(
    ['audit.log', 'aud.log.3.gz', 'xy.txt', 'a+(b)[c].log', 'a+(b)[c].log.1', 'd-{e}$^|\\.log'].map(isHidden),
  ).toEqual(Array(6).fill(true));
  expect(['aab.log', 'x.txt', 'xyz.txt', 'abc.log'].map(isHidden)).toEqual(Array(4).fill(false));
});

it('a number that is part of the pattern is not the number of a copy', () => {
  const isHidden = createHiddenNames(['shard-7.log', '7z.log', 'app2']);
  expect(
    ['shard-7.log', 'shard-7.log.1', 'shard-7-1.log', '7z.log', 'old-7z.log', 'app2', 'app2.1'].map(isHidden),
  ).toEqual(Array(7).fill(true));
  expect(['shard-70.log', 'shard-8.log', 'shard-17.log', '17z.log', 'app21', 'app.2'].map(isHidden)).toEqual(
    Array(6).fill(false),
  );
});

it('names of any length and kind are tested in no time', () => {
  const isHidden = createHiddenNames(['*a*b*c*.log', 'copy*of*', 'audit.log']);
  for (const unit of ['copy of ', '1', '-', 'a', 'abc.log', 'old.', 't'])
    expect(isHidden(unit.repeat(Math.floor(255 / unit.length)))).toBeTypeOf('boolean');
});

it("glog's files are hidden by the name of their link", () => {
  const isHidden = createHiddenNames(['server.INFO']);
  expect(isHidden('server.host.user.log.INFO.20261115-101112.77')).toBe(true);
  expect(isHidden('server.host.user.log.ERROR.20261115-101112.77')).toBe(false);
});

it('without patterns nothing is hidden', () => {
  expect(createHiddenNames([])('audit.log')).toBe(false);
});
