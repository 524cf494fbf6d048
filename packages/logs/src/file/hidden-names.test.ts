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
])('"audit.log" hides %j', (name) => {
  expect(createHiddenNames(['audit.log'])(name)).toBe(true);
});

it.each(['app.log', 'audit', 'audit.txt', 'my-audit.log', 'auditor.log', 'auditxlog', 'audit-404.log'])(
  '"audit.log" does not hide %j',
  (name) => {
    expect(createHiddenNames(['audit.log'])(name)).toBe(false);
  },
);

it('patterns have "*" and "?"; all other characters mean themselves', () => {
  const isHidden = createHiddenNames(['aud*.log', 'x?.txt', 'a+(b)[c].log', 'd-{e}$^|\\.log']);
  expect(
    ['audit.log', 'aud.log.3.gz', 'xy.txt', 'a+(b)[c].log', 'a+(b)[c].log.1', 'd-{e}$^|\\.log'].map(isHidden),
  ).toEqual(Array(6).fill(true));
  expect(['aab.log', 'x.txt', 'xyz.txt', 'abc.log'].map(isHidden)).toEqual(Array(4).fill(false));
});

it("glog's files are hidden by the name of their link", () => {
  const isHidden = createHiddenNames(['server.INFO']);
  expect(isHidden('server.host.user.log.INFO.20261115-101112.77')).toBe(true);
  expect(isHidden('server.host.user.log.ERROR.20261115-101112.77')).toBe(false);
});

it('without patterns nothing is hidden', () => {
  expect(createHiddenNames([])('audit.log')).toBe(false);
});
