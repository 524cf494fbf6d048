import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, explainQuery, formatQuery, parseQuery, parseRecordFilter } from '@porthole/contract';
import { compileQuery, filterToQuery, type QueryNode } from '@porthole/logs/query';
import { describe, expect, it } from 'vitest';

/* docs/query.md is a table of cases: what is written there holds. */

const page = readFileSync(join(import.meta.dirname, '../docs/query.md'), 'utf8');

/** The cells of each row of the table with this head, without backticks. */
function readTable(head: string): string[][] {
  const [, rows = ''] = page.split(`| ${head} |\n`);
  const [table = ''] = rows.split('\n\n');
  return table
    .trim()
    .split('\n')
    .slice(1)
    .map((row) =>
      row
        .slice(2, -2)
        .split(' | ')
        .map((cell) => cell.replace(/^`(.*)`$/, '$1')),
    );
}

function parse(text: string): QueryNode {
  const node = parseQuery(text);
  if (!node) throw new Error(`"${text}" is empty`);
  return node;
}

describe('docs/query.md', () => {
  it.each(readTable('query | in words'))('%s: %s', (text, words) => {
    expect(explainQuery(parse(text ?? ''))).toBe(words);
  });

  it.each(readTable('query | value | matches'))('%s of %s: %s', (text = '', value = '', matches) => {
    const node = parse(text);
    const field = 'field' in node ? node.field : '';
    // What a parser would change is in the text only.
    const context = { context: { [field]: JSON.parse(value) }, contextText: `{${JSON.stringify(field)}:${value}}` };
    const holds = compileQuery(node, () => ({ test: () => false }));
    expect(holds({ message: '', ...context }, () => '') ? 'yes' : 'no').toBe(matches);
  });

  it.each(readTable('query | error'))('%s is refused: %s', (text = '', error) => {
    expect(refusal(text)).toBe(error);
  });

  it.each(readTable('parameter | query'))('%s means %s', (parameters = '', text) => {
    const query = new URLSearchParams(parameters.replaceAll('+', '%2B'));
    const node = filterToQuery(parseRecordFilter(query, {}));
    expect(node && formatQuery(node)).toBe(text);
  });

  it('has all tables, and its first example is a query', () => {
    expect(readTable('query | in words').length).toBeGreaterThan(10);
    expect(readTable('query | value | matches').length).toBeGreaterThan(20);
    expect(readTable('query | error').length).toBeGreaterThan(5);
    expect(readTable('parameter | query').length).toBeGreaterThan(5);
    expect(parse(/^ {4}(.*)$/m.exec(page)?.[1] ?? '')).toMatchObject({ kind: 'and' });
  });
});

function refusal(text: string): string {
  try {
    return `accepted as ${JSON.stringify(parseQuery(text))}`;
  } catch (error) {
    return errorMessage(error);
  }
}
