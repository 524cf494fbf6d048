import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { share } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { startCluster } from './testing/console-cluster.ts';
import { LogPage } from './testing/console-log-page.ts';
import { LogWriter, logLine } from './testing/log-writer.ts';

const FIRST_MS = Date.UTC(2026, 10, 1, 12);

const browser = shareBrowser();

/** 3,000 lines, one in a second: every 600th has a needle, every 500th is an error, every 100th else a warning. */
function mixedLog(): string {
  let text = '';
  for (let number = 0; number < 3000; number++) {
    const level = number % 500 === 0 ? 'ERROR' : number % 100 === 0 ? 'WARN' : 'INFO';
    const what = number % 600 === 300 ? `needle ${number}` : `line ${number}`;
    text += logLine(what, { timeMs: FIRST_MS + number * 1000, level });
  }
  return text;
}

/** 40 lines, one in a second, of twenty shards. */
function shardLog(): string {
  const lines = Array.from({ length: 40 }, (_, number) => {
    const shard = number % 20 === 13 ? 13 : 130 + (number % 20);
    return logLine(`flush shard=${shard} step=${number}`, { timeMs: FIRST_MS + number * 1000 });
  });
  return lines.join('');
}

const finished = share(async () => {
  const [node] = await startCluster([{ files: { 'a.log': mixedLog(), 'shards.log': shardLog() } }]);
  return node;
});

/** A log that nobody writes to. */
async function openFinished(name = 'a.log') {
  const { url } = finished();
  const log = await LogPage.open(browser(), `${url}/logs?src=n1/${name}&live=0`);
  return { log, field: log.page.getByRole('combobox', { name: 'Find in the logs' }), url };
}

/** A log that is followed. */
async function openFollowed(text: string) {
  const [{ url, logDir }] = await startCluster([{ files: { 'a.log': text } }]);
  return { log: await LogPage.open(browser(), `${url}/logs?src=n1/a.log`), url, logDir };
}

function levelButton({ page }: LogPage, name: string) {
  return page.getByRole('list', { name: 'Levels shown' }).getByRole('button', { name: new RegExp(`^${name}`) });
}

describe('the log workspace finds', () => {
  it('an invalid regex is reported beside the field, with the message of the API', async () => {
    const { log, field, url } = await openFinished();
    log.expected.push(/status of 400/);
    const answer = await fetch(`${url}/api/v1/log/search?regex=${encodeURIComponent('line (')}`);
    const { code, detail } = (await answer.json()) as { code: string; detail: string };
    expect(code).toBe('REGEX_INVALID');
    await log.page.getByRole('button', { name: 'Regular expression' }).click();
    await field.fill('line (');
    await eventually(async () => expect(await log.page.locator('#find-message').textContent()).toContain(detail));
    await eventually(async () => expect(await log.rows.count()).toBeGreaterThan(0));
    await field.fill('needle (3|9)00');
    await eventually(async () => expect(await log.page.locator('.find-count').textContent()).toMatch(/^2 matches/));
  });

  it('steps to matches beyond what is loaded, and shows only matches with their number and context', async () => {
    const { log, field } = await openFinished();
    const count = () => log.page.locator('.find-count').textContent();
    const isAt = (text: string) =>
      eventually(async () => expect(await log.focused.locator('.row-text').textContent()).toBe(text));
    await field.fill('needle');
    await eventually(async () => expect(await count()).toBe('5 matches'));
    await field.press('Enter');
    await isAt('needle 2700');
    for (const text of ['needle 2100', 'needle 1500']) {
      await field.press('Enter');
      await isAt(text);
    }
    await eventually(async () => expect(await count()).toBe('3 of 5'));
    await log.press('n');
    await isAt('needle 2100');
    await eventually(async () => expect(await count()).toBe('4 of 5'));
    await log.press('Alt+Enter');
    const all = [300, 900, 1500, 2100, 2700].map((number) => `needle ${number}`);
    await eventually(async () => expect(await log.texts()).toEqual(all));
    await isAt('needle 2100');
    await log.press('c');
    await eventually(async () => expect(await log.texts()).toContain('line 2101'));
    await log.press('c');
    await eventually(async () => expect(await log.texts()).toEqual(all));
  });

  it('a query selects records by field: completed, explained, marked where it is wrong, kept in the URL', async () => {
    const { log, field } = await openFinished('shards.log');
    await field.pressSequentially('sha');
    await log.page.getByRole('option', { name: /^shard/ }).waitFor();
    await field.press('ArrowDown');
    await field.press('Tab');
    await eventually(async () => expect(await field.inputValue()).toBe('shard='));
    await field.pressSequentially('13');
    await field.press('Enter');
    const wanted = ['flush shard=13 step=13', 'flush shard=13 step=33'];
    await eventually(async () => expect(await log.texts()).toEqual(wanted));
    await eventually(async () => expect(await log.rows.locator('mark').allTextContents()).toEqual(['13', '13']));
    await eventually(async () => expect(await log.page.locator('.query-note').textContent()).toContain('shard'));
    await log.page.reload();
    await eventually(async () => expect(await log.texts()).toEqual(wanted));
    await eventually(async () => expect(await field.inputValue()).toBe('shard=13'));
    await field.fill('shard=13 step>many ');
    await eventually(async () => expect(await log.page.locator('.query-marker b').textContent()).toBe('m'));
    await eventually(async () => {
      const noteId = await field.getAttribute('aria-describedby');
      expect(await log.page.locator(`[id="${noteId}"]`).allTextContents()).toEqual([
        expect.stringContaining('at character 15'),
      ]);
    });
    await field.press('Enter');
    expect(await log.texts()).toEqual(wanted);
    await field.fill('');
    await eventually(async () => expect((await log.texts()).at(-1)).toBe('flush shard=149 step=39'));
    await field.press('ArrowUp');
    await field.press('Enter');
    await eventually(async () => expect(await field.inputValue()).toBe('shard=13'));
    await eventually(async () => expect(await log.texts()).toEqual(wanted));
  });

  it('nothing, and offers what may have hidden the records: the filters, and the time range', async () => {
    const { log, url } = await openFinished();
    await log.page.goto(`${url}/logs?src=n1/a.log&live=0&last=1h&query=line%3D4711`);
    await log.page.getByText('No matches').waitFor();
    await log.page.getByRole('button', { name: 'Without filters' }).click();
    await log.page.getByText('No records in this time range').waitFor();
    expect(new URL(log.page.url()).searchParams.has('query')).toBe(false);
    await log.page.getByRole('button', { name: 'All times' }).click();
    await eventually(async () => expect(await log.rows.count()).toBeGreaterThan(0));
    expect(await log.page.locator('.rows-ways').count()).toBe(0);
  });

  it('levels show counts and hide lower ones', async () => {
    const { log } = await openFinished();
    const level = (name: string) => levelButton(log, name);
    await eventually(async () => expect(await level('Error').getAttribute('aria-label')).toBe('Error and above, 6'));
    await eventually(async () => expect(await level('Warn').getAttribute('aria-label')).toBe('Warn and above, 24'));
    await eventually(async () => expect(await level('Info').getAttribute('aria-label')).toBe('Info and above, 2,970'));
    await level('Error').click();
    const errors = [0, 500, 1000, 1500, 2000, 2500].map((number) =>
      number % 600 === 300 ? `needle ${number}` : `line ${number}`,
    );
    await eventually(async () => expect(await log.texts()).toEqual(errors));
    await eventually(async () => expect(await log.status.textContent()).toContain('6 recordsof 3,000'));
    await level('Error').click();
    await eventually(async () => expect((await log.texts()).at(-1)).toBe('line 2999'));
  });

  it('dragging over the chart selects that time range', async () => {
    const { log } = await openFinished();
    const chart = log.page.getByRole('slider', { name: 'Records over time' });
    const box = await chart.boundingBox();
    if (!box) throw new Error('there is no chart');
    const y = box.y + box.height / 2;
    await log.page.mouse.move(box.x + box.width * 0.4, y);
    await log.page.mouse.down();
    await log.page.mouse.move(box.x + box.width * 0.5, y, { steps: 4 });
    await log.page.mouse.up();
    await eventually(() => expect(log.page.url()).toMatch(/from=.*&to=/));
    const query = new URL(log.page.url()).searchParams;
    const bounds = ['from', 'to'].map((name) => (Date.parse(query.get(name) ?? '') - FIRST_MS) / 1000);
    expect(bounds[0]).toBeGreaterThan(1000);
    expect((bounds[1] ?? 0) - (bounds[0] ?? 0)).toBeLessThan(500);
    await log.settled();
    const numbers = (await log.scrollBack()).records.map((text) => Number(/\d+/.exec(text)?.[0]));
    expect(numbers[0]).toBe(Math.ceil(bounds[0] ?? 0));
    expect(numbers.at(-1)).toBe(Math.ceil(bounds[1] ?? 0) - 1);
  });

  it('records dropped while paused become a gap row that can be loaded', async () => {
    const { log, logDir } = await openFollowed(logLine('line 0'));
    const writer = new LogWriter(logDir, 'a.log');
    writer.write(20);
    await eventually(async () => expect(await log.texts()).toHaveLength(21));
    await log.press('f');
    writer.write(2350);
    await eventually(async () => expect(await log.pill.textContent()).toBe('Paused · 2,350 new'));
    await log.press('f');
    const gap = log.page.locator('.row-gap');
    await log.list.hover();
    await eventually(async () => {
      await log.page.mouse.wheel(0, -20_000);
      expect(await gap.allTextContents()).toEqual(['350 records not shown: written while paused· load']);
    });
    // One page at a time: the rest stays a gap after the loaded records.
    for (const first of [21, 221]) {
      await gap.getByRole('button').click();
      await eventually(async () => expect(await log.texts()).toContain(`line ${first}`));
      await eventually(async () => {
        await log.page.mouse.wheel(0, 500);
        expect(await log.texts()).toContain(`line ${Math.min(370, first + 199)}`);
      });
    }
    await eventually(async () => expect(await gap.count()).toBe(0));
    await log.press('G');
    await eventually(async () => expect((await log.texts()).at(-1)).toBe('line 2370'));
    expect((await log.scrollBack()).records).toEqual(['line 0', ...writer.texts]);
  });
});

describe('the text of a log', () => {
  it('is shown as text only', async () => {
    const wicked = [
      '<img src=x onerror=alert(1)><script>alert(2)</script><b id=made>bold</b>',
      '\u001b[31mred\u001b[0m plain \u001b]0;title\u0007',
      'abc\u202Egnp.exe\u202C and \u0000\u0007 and \u009b31m',
      '"><svg/onload=alert(3)> javascript:alert(4) {{7*7}}',
    ];
    const { log, logDir, url } = await openFollowed(wicked.map((text) => logLine(text)).join(''));
    const json = logLine('<i>context</i>').trimEnd();
    appendFileSync(join(logDir, 'a.log'), `${json}\t{"html":"<u>under</u>"}\n`);
    await eventually(async () => expect(await log.texts()).toHaveLength(5));
    const [html, ansi, hidden, , context] = await log.texts();
    expect(html).toBe(wicked[0]);
    expect(ansi).toMatch(/^red plain /);
    expect(hidden).toMatch(/^abc⇄gnp\.exe⇄ and ␀␇ and $/);
    expect(context).toBe('<i>context</i> html=<u>under</u>');
    expect(await log.rows.locator('img, script, b#made, svg, i, u').count()).toBe(0);
    await eventually(async () =>
      expect(await log.rows.nth(1).locator('.row-text span').first().textContent()).toBe('red'),
    );
    for (const row of [0, 2, 4]) {
      await log.rows.nth(row).click();
      await log.press('Enter');
      await log.page.locator('.details .record-message').waitFor();
    }
    expect(await log.page.locator('.details').locator('img, script, #made, svg:not(.icon), u').count()).toBe(0);
    await log.page.goto(`${url}/logs?src=n1/a.log&plain=1&t=2026-11-15T00:00:00Z`);
    await eventually(async () =>
      expect(await log.page.locator('.plain-links').textContent()).toMatch(/All [\d,]+ records/),
    );
    await log.page.goto(`${url}/logs?src=n1/a.log&plain=1`);
    await eventually(async () => expect(await log.page.locator('.plain pre').textContent()).toContain(wicked[0]));
    expect(await log.page.locator('.plain pre *').count()).toBe(0);
  });
});
