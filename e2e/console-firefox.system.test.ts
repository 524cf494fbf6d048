import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { countedLines, line, startCluster } from './testing/console-cluster.ts';
import { Firefox } from './testing/firefox.ts';

const ESCAPE = '\uE00C';

/** Every page, and a text that shows that it is there. */
const PAGES = [
  ['/', 'All 2 nodes are up'],
  ['/logs', 'line 7'],
  ['/incidents', 'incident'],
  ['/incidents?from=1h&to=now', 'Before, during, after'],
  ['/config', 'limit'],
  ['/nodes', 'n2'],
  ['/nodes/n1', 'n1'],
] as const;

it('Firefox shows every page, in both widths and themes, and takes keys', async () => {
  const config = (limit: number) => `[query]\nlimit = ${limit}\n`;
  const [{ url }] = await startCluster([
    { files: { 'a.log': countedLines(9) + line(0, 'broken', 'ERROR') }, config: config(100) },
    { files: { 'b.log': countedLines(9) }, config: config(200) },
  ]);
  const firefox = await Firefox.start();
  const colour = (name: string) =>
    firefox.evaluate<string>(`(() => { const own = document.createElement('i'); own.style.color = 'var(--${name})';
      document.body.append(own); const { color } = getComputedStyle(own); own.remove(); return color; })()`);
  for (const [width, theme] of [
    [1280, 'light'],
    [500, 'dark'], // the narrowest window that it has
  ] as const) {
    await firefox.resize(width, 900);
    for (const [path, text] of PAGES) {
      await firefox.open(`${url}${path}`);
      await firefox.evaluate(`localStorage.setItem('porthole.theme', '${theme}')`);
      await eventually(async () => {
        const shown = await firefox.evaluate<string>('document.querySelector("main")?.innerText ?? ""');
        expect(shown, path).toContain(text);
      });
      const [needed, room] = await firefox.evaluate<[number, number]>(
        '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
      );
      expect(needed, path).toBeLessThanOrEqual(room);
      expect(await firefox.evaluate('document.fonts.check("13px Inter")')).toBe(true);
    }
  }
  expect(await colour('bg')).toBe('rgb(13, 17, 23)');
  await firefox.open(`${url}/logs`);
  await eventually(async () =>
    expect(await firefox.evaluate('document.querySelectorAll("#log-rows .row").length')).toBeGreaterThan(5),
  );
  await firefox.press('?');
  await eventually(async () =>
    expect(await firefox.evaluate('document.querySelector("dialog[open] h2")?.innerText')).toBe('Keys'),
  );
  await firefox.press(ESCAPE);
  await eventually(async () => expect(await firefox.evaluate('document.querySelector("dialog[open]")')).toBe(null));
});
