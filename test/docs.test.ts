import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_KINDS, type ErrorCode, getMemberRoute, getRoute, MEMBER_ROUTE_IDS, ROUTE_IDS } from '@porthole/contract';
import { startTestNode } from '@porthole/server/testing';
import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../scripts/source-files.mjs';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** All documentation except the changelog and the decisions, which describe the past. */
const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...['docs', 'docs/tasks'].flatMap((dir) => readdirSync(join(root, dir)).map((name) => `${dir}/${name}`)),
].filter((path) => path.endsWith('.md'));

const FROM_ROOT = /`((?:packages|proto|test|e2e|bench|examples|deploy|docs|scripts)\/[\w/.-]*)`/g;

const files = sourceFiles();

/** First cells of the rows of all Markdown tables, code marks taken off. */
function firstCells(markdown: string): string[] {
  return [...markdown.matchAll(/^\| `([^`|]+)` \|/gm)].map(([, cell = '']) => cell);
}

describe('the documentation says what the code does', () => {
  it('every route has a heading in docs/http-api.md, and no heading is of a route that does not exist', () => {
    const documented = [...read('docs/http-api.md').matchAll(/^### ([A-Z]+ \S+)$/gm)].map(([, heading]) => heading);
    // What only members ask is no part of the interface.
    const routes = ROUTE_IDS.map(getRoute).filter(({ path }) => !path.startsWith('/api/v1/member/'));
    expect(documented.sort()).toEqual(routes.map(({ path, method = 'GET' }) => `${method} ${path}`).sort());
  });

  it('every decision record has a number of its own, which its title repeats, and a row in the list of them', () => {
    const names = readdirSync(join(root, 'docs/adr')).filter((name) => name !== 'README.md');
    const records = names.sort().map((name) => {
      const [, number = '', title] = /^# (\d+)\. (.+)$/m.exec(read(`docs/adr/${name}`)) ?? [];
      return { name, number, row: `| ${number} | [${title}](${name}) |` };
    });
    expect(records.map(({ number }) => number.padStart(4, '0'))).toEqual(names.map((name) => name.slice(0, 4)));
    expect(new Set(records.map(({ number }) => number)).size).toBe(records.length);
    expect(read('docs/adr/README.md').match(/^\| \d.*$/gm)).toEqual(records.map(({ row }) => row));
  });

  it('every route of a member is named in docs/http-api.md', () => {
    const documented = firstCells(read('docs/http-api.md')).filter((cell) => cell.includes('/{id}/'));
    expect(documented).toEqual(MEMBER_ROUTE_IDS.map((id) => getMemberRoute(id).path));
  });

  it('every query parameter of a route is named in docs/http-api.md', () => {
    const text = read('docs/http-api.md');
    const names = ROUTE_IDS.flatMap((id) => getRoute(id).parameters.map(({ name }) => `\`${name}\``));
    expect(names.filter((name) => !text.includes(name))).toEqual([]);
  });

  it('docs/errors.md lists exactly the error codes, with their status and whether to try again', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \| (\w+) \| (yes|no) \|/gm)];
    const documented = rows.map(([, code, http, grpc, again]) => `${code} ${http} ${grpc} ${again}`);
    const actual = (Object.keys(ERROR_KINDS) as ErrorCode[]).map((code) => {
      const { http, grpc, retryable } = ERROR_KINDS[code];
      return `${code} ${http} ${grpc} ${retryable ? 'yes' : 'no'}`;
    });
    expect(documented.sort()).toEqual(actual.sort());
  });

  it('docs/operations.md lists exactly the metrics and health checks of a running node', async () => {
    // Nobody listens there: what there is about shipping is shown all the same.
    const away = 'http://127.0.0.1:1/';
    const { running: node } = await startTestNode({ settings: { archive: { url: away }, ship: { otlp: away } } });
    const metrics = await (await fetch(`${node.url}metrics`)).text();
    const names = [...metrics.matchAll(/^# TYPE (porthole_\w+) /gm)].map(([, name]) => name);
    const { checks } = (await (await fetch(`${node.url}health/ready`)).json()) as { checks: { name: string }[] };
    const documented = firstCells(read('docs/operations.md'));
    expect(documented.filter((cell) => cell.startsWith('porthole_')).sort()).toEqual(names.sort());
    for (const { name } of checks) expect(documented).toContain(name);
  });

  it('settings named anywhere in the documentation exist', async () => {
    const { SETTING_DEFINITIONS } = await import('@porthole/server/settings');
    const sections = new Set(SETTING_DEFINITIONS.map(({ section }) => section));
    // The others are keys of JSON records, and names of OpenTelemetry.
    const keys = new Set([
      ...SETTING_DEFINITIONS.map(({ key }) => key),
      'log.level',
      'log.logger',
      'service.name',
      'service.namespace',
    ]);
    const named = PAGES.flatMap((page) =>
      [...read(page).matchAll(/`([a-z]+)\.([a-z-]+)(?: = [^`]*)?`/g)].map(([, section = '', name]) => ({
        section,
        key: `${section}.${name}`,
      })),
    );
    const unknown = named.filter(({ section, key }) => sections.has(section) && !keys.has(key));
    expect(unknown).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });

  it('links between the pages lead somewhere', () => {
    const broken = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)]
        .map(([, link = '']) => join(root, page, '..', link))
        .filter((path) => !exists(path)),
    );
    expect(broken).toEqual([]);
  });
});

function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EISDIR';
  }
}

/** Of ARCHITECTURE.md all paths, which may begin anywhere (`search/plan/`); elsewhere, those from the root of the sources. */
it.each(PAGES)('files and folders that %s names exist', (page) => {
  const path = page === 'ARCHITECTURE.md' ? /`([\w@.-]+\/[\w/.-]*|[\w-]+\.(?:ts|tsx|mjs))`/g : FROM_ROOT;
  const named = [...read(page).matchAll(path)].map(([, found = '']) => found.replace(/\/$/, ''));
  const isThere = (each: string) => files.some((file) => `/${file}/`.includes(`/${each}/`));
  // Packages, what the build makes, and a name to be chosen.
  const others = /^@porthole\/|^packages\/\w+\/(lib|dist)\b|NAME/;
  expect(named.filter((each) => !others.test(each) && !isThere(each))).toEqual([]);
});
