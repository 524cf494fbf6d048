import { linkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';

const MIB = 1024 ** 2;

describe('an archive that is small and holds much', () => {
  it('is searched in little memory, within the time a question has', async () => {
    const member = gzipSync(Buffer.alloc(32 * MIB));
    const files = { 'a.log.1.gz': Buffer.concat(Array.from({ length: 32 }, () => member)), 'a.log': 'text\n' };
    const node = await AttackedNode.start({ files, flags: ['--search-budget', '2s'] });
    const before = node.residentMib;
    const answers = await Promise.all(
      ['search?q=text', 'search?q=nothing', 'histogram?', 'digest?'].map((question) =>
        node.request(`api/v1/log/${question}&file=a.log`),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(node.residentMib - before).toBeLessThan(400);
    expect((await node.request('api/v1/log/view?file=a.log')).text).toBe('text\n');
    await node.expectHealthy();
  });
});

/** Far more than names are compared with a wrong one. MORE tries so many that a list of them takes seconds. */
const NAMES = process.env.MORE ? 30_000 : 12_000;

describe('a directory of many thousand files', () => {
  it('is listed and searched, and keeps nobody waiting', async () => {
    const node = await AttackedNode.start({ files: { 'first.log': 'line\n' }, flags: ['--search-budget', '2s'] });
    fillWithLinks(node.logDir, NAMES);
    const files = node.openFiles;
    const list = JSON.parse((await node.request('api/v1/log/list')).text) as unknown[];
    expect(list).toHaveLength(NAMES);
    const wrong = Array.from({ length: 10 }, (_, n) => node.request(`api/v1/log/view?file=servce-1234${n}.log`));
    for (const { status, text } of await Promise.all(wrong)) {
      expect([status, JSON.parse(text)]).toMatchObject([404, { code: 'LOG_FILE_NOT_FOUND' }]);
      expect(text).not.toContain('did you mean');
    }
    const details = await Promise.all([1, 2, 3].map(() => node.request('api/v1/log/files')));
    for (const { text } of details) expect(JSON.parse(text)).toHaveLength(NAMES);
    const answers = await Promise.all(
      ['search?q=line', 'histogram?'].map((path) => node.request(`api/v1/log/${path}`)),
    );
    for (const { status } of answers) expect(status).toBeLessThan(500);
    await eventually(() => expect(node.openFiles).toBeLessThan(files + 100));
    await node.expectHealthy();
  });
});

/** Names of few files: they are made in a tenth of the time. One can have 65,000 at most. */
function fillWithLinks(dir: string, names: number): void {
  for (let made = 1; made < names; made++) {
    const first = made - (made % 10_000) || 1;
    const path = join(dir, `service-${made}.log`);
    if (made === first) writeFileSync(path, `line of ${made}\n`);
    else linkSync(join(dir, `service-${first}.log`), path);
  }
}
