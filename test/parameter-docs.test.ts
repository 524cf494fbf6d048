import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeParameter, getRoute, type Parameter, ROUTE_IDS } from '@porthole/contract';
import { describe, expect, it } from 'vitest';

const PAGE = join(import.meta.dirname, '../docs/http-api.md');

/** The line before each table says which rows of the parameter table it has. */
const TABLE = /^<!-- parameters: (\w+) -->\n\| parameter \| meaning \|\n\|---\|---\|\n(?:\|.*\n)*/gm;

const MEMBERS = getRoute('settings').parameters;

/** What all requests about records take. */
const CONDITIONS = getRoute('logSearch').parameters.filter((row) =>
  (['logFollow', 'logHistogram', 'logDigest'] as const).every((id) => isIn(getRoute(id).parameters, row)),
);

/** A parameter of the same name may mean something else in another route. */
function isIn(rows: readonly Parameter[], { name, meaning }: Parameter): boolean {
  return rows.some((row) => row.name === name && row.meaning === meaning);
}

function tableRows(name: string): readonly Parameter[] {
  if (name === 'conditions') return CONDITIONS;
  if (name === 'members') return MEMBERS;
  const id = ROUTE_IDS.find((known) => known === name);
  if (id === undefined)
    throw new Error(`docs/http-api.md has a table of parameters for "${name}", which is not a route`);
  return getRoute(id).parameters.filter((row) => !isIn(CONDITIONS, row) && !isIn(MEMBERS, row));
}

function formatRow(row: Parameter): string {
  const { name, codec } = row;
  const values = codec.schema.values?.map((value) => `\`${value}\``).join(', ');
  const notes = [...(row.in === 'header' ? ['A header.'] : []), ...(values === undefined ? [] : [`One of ${values}.`])];
  return `| \`${name}\` | ${[describeParameter(row), ...notes].join(' ')} |\n`;
}

function updateTables(page: string): string {
  return page.replace(TABLE, (_table, name: string) => {
    const head = `<!-- parameters: ${name} -->\n| parameter | meaning |\n|---|---|\n`;
    return `${head}${tableRows(name).map(formatRow).join('')}`;
  });
}

describe('the tables of parameters in docs/http-api.md', () => {
  it('are made from the parameter table (UPDATE_DOCS=1 writes them)', () => {
    const page = readFileSync(PAGE, 'utf8');
    const updated = updateTables(page);
    if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, updated);
    else expect(page).toBe(updated);
  });

  it('are all of them', () => {
    const page = readFileSync(PAGE, 'utf8');
    const marked = [...page.matchAll(TABLE)].length;
    expect(marked).toBe([...page.matchAll(/^\| parameter \|/gm)].length);
    expect(marked).toBeGreaterThan(5);
  });
});
