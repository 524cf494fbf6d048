import { gzipSync } from 'node:zlib';
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
        node.ask(`api/v1/log/${question}&file=a.log`),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(node.residentMib - before).toBeLessThan(400);
    expect((await node.ask('api/v1/log/view?file=a.log')).text).toBe('text\n');
    await node.hasBeenWell();
  });
});

describe('a directory of 10,000 files', () => {
  it('is listed and searched, and keeps nobody waiting', { timeout: 60_000 }, async () => {
    const names = Array.from({ length: 10_000 }, (_, n) => [`service-${n}.log`, `line of ${n}\n`]);
    const node = await AttackedNode.start({ files: Object.fromEntries(names), flags: ['--search-budget', '2s'] });
    const files = node.openFiles;
    const list = JSON.parse((await node.ask('api/v1/log/list')).text) as unknown[];
    expect(list).toHaveLength(10_000);
    const answers = await Promise.all(['search?q=line', 'histogram?'].map((path) => node.ask(`api/v1/log/${path}`)));
    for (const { status } of answers) expect(status).toBeLessThan(500);
    expect(node.openFiles).toBeLessThan(files + 200);
    await node.hasBeenWell();
  });
});
