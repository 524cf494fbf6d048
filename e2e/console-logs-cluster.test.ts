import { eventually } from '@porthole/logs/testing';
import { freePorts } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import { shareBrowser } from './testing/browser-page.ts';
import { ClusterProcess } from './testing/cluster-process.ts';
import { LogPage } from './testing/console-log-page.ts';

const IDS = ['n1', 'n2', 'n3'];

const browser = shareBrowser();

it('a node that dies during a follow gets a row, the others continue, and so does it after a restart', async () => {
  const ports = await freePorts(IDS.length);
  const members = IDS.map((id, index) => `${id}=http://127.0.0.1:${ports[index]}`).join(',');
  const shownFlags = (id: string) => [
    '--http-port',
    String(ports[IDS.indexOf(id)]),
    '--cluster-members',
    members,
    '--cluster-first-batch-timeout',
    '20s',
  ];
  const [n1, n2, n3] = await Promise.all(IDS.map((id) => ClusterProcess.start(id, { flags: shownFlags(id) })));
  if (!n1 || !n2 || !n3) throw new Error('not all have started');
  for (const node of [n1, n2, n3]) node.write(`${node.id} begins`);
  const log = await LogPage.open(browser(), `${n1.url}/logs`);
  const shows = (...texts: string[]) =>
    eventually(async () => expect(await log.texts()).toEqual(expect.arrayContaining(texts)));
  await shows('n1 begins', 'n2 begins', 'n3 begins');
  await eventually(async () => expect(await log.pill.textContent()).toBe('Live'));
  for (const node of [n1, n2, n3]) node.write(`${node.id} is followed`);
  await shows('n1 is followed', 'n2 is followed', 'n3 is followed');

  await n2.kill();
  await eventually(async () =>
    expect((await log.notices.allTextContents()).join('\n')).toMatch(/^n2 stopped responding/m),
  );
  for (const node of [n1, n2, n3]) node.write(`${node.id} after the death`);
  await shows('n1 after the death', 'n3 after the death');
  await eventually(async () => expect(await log.status.textContent()).toContain('2 of 3 nodes responded'));
  await eventually(async () => expect(await log.pill.textContent()).toBe('Live'));
  const again = await ClusterProcess.start('n2', { flags: shownFlags('n2'), cwd: n2.cwd });
  await shows('n2 after the death');
  for (const node of [n1, again, n3]) node.write(`${node.id} to the end`);
  await shows('n1 to the end', 'n2 to the end', 'n3 to the end');
  const texts = await log.texts();
  expect(texts).toHaveLength(new Set(texts).size);
  expect(texts).toHaveLength(12);
  await eventually(async () => expect(await log.status.textContent()).not.toContain('nodes responded'));
});
