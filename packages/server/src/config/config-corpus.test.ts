import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { viewConfig } from './config-view.ts';
import { flattenToml } from './flatten-config.ts';
import { redactToml } from './redact-config.ts';
import { CONFIG_CORPUS, corpusValues } from './testing/config-corpus.ts';
import { unmark } from './testing/redaction-corpus.ts';

const PAGE = join(import.meta.dirname, '../../../../docs/security.md');

describe('of a real configuration the secrets are masked, and nothing else is', () => {
  it.each(CONFIG_CORPUS)('$name', ({ marked }) => {
    const { toml, redacted } = unmark(marked);
    expect(redactToml(toml)).toBe(redacted);
    expect(redactToml(redacted)).toBe(redacted);
  });

  it.each(CONFIG_CORPUS)('$name, by key', ({ marked }) => {
    const { toml, secrets } = unmark(marked);
    const shown = JSON.stringify(flattenToml(toml).map(({ value }) => value));
    expect(secrets.filter(isRevealing).filter((secret) => shown.includes(JSON.stringify(secret).slice(1, -1)))).toEqual(
      [],
    );
  });

  it.each(CONFIG_CORPUS)('$name, commented out', ({ marked }) => {
    const { toml, secrets } = unmark(marked);
    const redacted = redactToml(`x = 1\n${toml.trimEnd().replace(/^/gm, '# ')}\n`);
    const lines = secrets.flatMap((secret) => secret.split('\n')).filter(isRevealing);
    expect(lines.filter((secret) => redacted.includes(secret))).toEqual([]);
  });
});

/** Short ones stand in other words by chance, and numbers and dates in others; the ends of a key say nothing. */
function isRevealing(secret: string): boolean {
  return secret.trim().length >= 6 && !/^[\d._:x-]+$|^-----|^\[/.test(secret);
}

describe('the corpus', () => {
  it('has the size and the results that docs/security.md states', () => {
    const results = [...new Set(CONFIG_CORPUS.map(({ area }) => area))].map((area) => {
      const shapes = CONFIG_CORPUS.filter((shape) => shape.area === area);
      return { area, shapes: shapes.length, ...measure(shapes.flatMap((shape) => corpusValues(shape, redactToml))) };
    });
    const sum = (pick: (result: (typeof results)[number]) => number) =>
      results.reduce((all, result) => all + pick(result), 0);
    const total = {
      area: 'all',
      shapes: sum(({ shapes }) => shapes),
      secrets: sum(({ secrets }) => secrets),
      masked: sum(({ masked }) => masked),
      open: sum(({ open }) => open),
      overMasked: sum(({ overMasked }) => overMasked),
    };
    expect(total.shapes).toBeGreaterThanOrEqual(60);
    expect(total.secrets).toBeGreaterThanOrEqual(150);
    const rows = [...results, total].map(
      ({ area, shapes, secrets, masked, open, overMasked }) =>
        `| ${area} | ${shapes} | ${secrets} | ${percent(masked, secrets)} | ${open} | ${overMasked} |`,
    );
    const page = readFileSync(PAGE, 'utf8');
    expect(rows.filter((row) => !page.includes(row))).toEqual([]);
  });

  it('adds no common word or number to the masking of logs', async () => {
    const learned: string[] = [];
    for (const { marked } of CONFIG_CORPUS) {
      const { secrets } = await viewConfig([{ path: 'config.toml', text: unmark(marked).toml }], []);
      learned.push(...secrets.values);
    }
    expect(learned.filter((value) => value.length < 6 || /^\d{1,7}$/.test(value))).toEqual([]);
    expect(learned).not.toContain('2026-11-15');
    expect(learned).not.toContain('20261115');
    expect(learned).not.toContain('07:32:00');
  });
});

interface Measure {
  secrets: number;
  masked: number;
  /** Values without a secret. */
  open: number;
  /** Values of which more is masked than is secret. */
  overMasked: number;
}

function measure(values: ReturnType<typeof corpusValues>): Measure {
  const secrets = values.flatMap((value) => value.secrets.map((secret) => ({ secret, ...value })));
  return {
    secrets: secrets.length,
    masked: secrets.filter(({ secret, expected, actual }) => actual === expected || !actual.includes(secret)).length,
    open: values.filter((value) => value.secrets.length === 0).length,
    overMasked: values.filter(({ actual, expected }) => actual !== expected && stars(actual) >= stars(expected)).length,
  };
}

function stars(text: string): number {
  return text.split('******').length;
}

function percent(part: number, whole: number): string {
  return `${((part / whole) * 100).toFixed(1)} %`;
}
