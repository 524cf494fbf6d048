import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCE = join(import.meta.dirname, '..');

/** A colour as it is written: as a number, which is no private member, or by a function that makes one. */
const COLOUR = /(?<!\.)#[0-9a-f]{3,8}\b(?!\s*[(:=?<])|\b(?:rgb|hsl|hwb|lab|lch|oklab|oklch)a?\(/i;

/** The colours that terminals have for the names in log lines are not ours. */
const OF_TERMINALS = 'log-view/rows/record-text.ts';

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:css|tsx?)$/.test(name) && !name.includes('.test.'))
  .map((name) => ({ name, text: readFileSync(join(SOURCE, name), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '') }));
const styles = files.filter(({ name }) => name.endsWith('.css'));
const scripts = files.filter(({ name }) => !name.endsWith('.css'));

function matches({ name, text }: (typeof files)[number], pattern: RegExp): string[] {
  return text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${name}:${index + 1} ${line.trim()}`] : []));
}

describe('no style is outside of the design system', () => {
  it('colours are written among the tokens only', () => {
    const others = files.filter(({ name }) => name !== 'style/tokens.css' && name !== OF_TERMINALS);
    expect(others.flatMap((file) => matches(file, COLOUR))).toEqual([]);
  });

  it('a style of a single element has computed values only', () => {
    const fixed = /style=(?:"|\{\{[^}]*?(?:'[^'$]*(?:\d(?:px|em|%)|#)[^']*'|: \d))/;
    expect(scripts.flatMap((file) => matches(file, fixed))).toEqual([]);
  });

  it('every class and every token is used', () => {
    const code = scripts.map(({ text }) => text).join('\n');
    const words = new Set(code.match(/[\w-]+/g));
    // `is-${tone}` stands for every class that begins so.
    const starts = [...code.matchAll(/([a-z]+-)\$\{/g)].map(([, start = '']) => start);
    const classes = styles.flatMap(({ text }) => {
      const selectors = text.replaceAll(/\{[^{}]*\}/g, '{}').replaceAll(/"[^"]*"/g, '');
      return [...selectors.matchAll(/\.([a-z][\w-]*)/g)].map(([, own = '']) => own);
    });
    expect(classes.length).toBeGreaterThan(100);
    const isUsed = (own: string) => words.has(own) || starts.some((start) => own.startsWith(start));
    expect(classes.filter((own) => !isUsed(own))).toEqual([]);
    const everything = files.map(({ text }) => text).join('\n');
    const tokens = [...new Set(everything.match(/(?<=^\s+)--[\w-]+(?=:)/gm))];
    const isRead = (token: string) => new RegExp(`var\\(${token}[,)]`).test(everything) || /^--node-\d$/.test(token);
    expect(tokens.filter((token) => !isRead(token))).toEqual([]);
  });
});
