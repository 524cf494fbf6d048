import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hashSecret, isSameHash, isSameText } from './tokens.ts';

const PACKAGES = join(import.meta.dirname, '../../..');
const HOME = 'server/src/auth/tokens.ts';

const sources = ['server', 'cluster', 'client', 'contract']
  .flatMap((name) =>
    readdirSync(join(PACKAGES, name, 'src'), { recursive: true, encoding: 'utf8' }).map(
      (file) => `${name}/src/${file}`,
    ),
  )
  .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|\/testing\/|\/generated\//.test(file))
  .map((file) => ({ file, text: readFileSync(join(PACKAGES, file), 'utf8') }));

/** What holds a credential, compared in a way whose time depends on where the two begin to differ. */
const COMPARISONS = [
  /\b(?:token|ticket|secret|password|authorization|credential|bearer)\b\)?\s*[!=]==?\s*(?!undefined|null|'')[\w(]/i,
  /[!=]==?\s*(?:\w+\.)*(?:token|ticket|secret|password|authorization|credential)\b(?!\s*[.(?])/i,
  /\.equals\(\s*\w*(?:token|hash|secret)/i,
  /(?:token|secret|password|authorization)\w*\.(?:equals|localeCompare|startsWith|includes)\(/,
];

describe('credentials', () => {
  it('are compared in one place, in constant time', () => {
    expect(sources.length).toBeGreaterThan(200);
    const comparing = sources.filter(({ text }) => text.includes('timingSafeEqual('));
    expect(comparing.map(({ file }) => file)).toEqual([HOME]);
    expect(comparing[0]?.text).toMatch(/return known\.length === shown\.length && timingSafeEqual\(known, shown\);/);
    const found = sources.flatMap(({ file, text }) =>
      text
        .split('\n')
        .filter((line) => COMPARISONS.some((comparison) => comparison.test(line)) && !line.trim().startsWith('*'))
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(found.filter((line) => !ALLOWED.some((known) => line.includes(known)))).toEqual([]);
  });

  it('that are looked up by a key are looked up by their hash', () => {
    const readSource = (name: string) => sources.find(({ file }) => file === `server/src/auth/${name}`)?.text ?? '';
    expect(readSource('download-tickets.ts')).toMatch(/ticketKey\(ticket\)[\s\S]*hashSecret\(ticket\)/);
    expect(readSource('download-tickets.ts')).not.toMatch(/#tickets\.(?:get|set|delete)\(ticket[,)]/);
    expect(readSource('jwt-check.ts')).toMatch(/known\(hash: Buffer\)/);
  });

  it('are the same if every byte is', () => {
    const [known, other] = [hashSecret('token'), hashSecret('tokem')];
    expect([isSameHash(known, hashSecret('token')), isSameHash(known, other)]).toEqual([true, false]);
    expect(isSameHash(known, known.subarray(1))).toBe(false);
    expect([isSameText('é', 'é'), isSameText('é', 'e'), isSameText('', 'a'), isSameText('', '')]).toEqual([
      ...[true, false, false, true],
    ]);
  });
});

/** No comparisons with what someone shows: whether the own token was read anew; whether a setting is a secret. */
const ALLOWED = ['this.#fingerprint?.of !== token', '?.secret === true'];
