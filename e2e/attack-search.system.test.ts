import { eventually, SLOW_REGEX, slowText } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';

const HEAD = '2026-11-15 05:00:00.000\tINFO\ta.go:1\t';

function slowLog(records: number, characters: number): string {
  const text = slowText(records + characters);
  return Array.from({ length: records }, (_, n) => `${HEAD}${text.slice(n, n + characters)}Q\n`).join('');
}

function lastLine(text: string): unknown {
  return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
}

describe('a regex that takes long', () => {
  const slow = `regex=${encodeURIComponent(`${SLOW_REGEX}$`)}&case=sensitive`;

  it('keeps neither other searches nor the node waiting', async () => {
    const files = { 'slow.log': slowLog(2000, 2000), 'plain.log': `${HEAD}needle\n` };
    const node = await AttackedNode.start({ files });
    const leaving = new AbortController();
    const attacks = ['search', 'histogram', 'digest'].map((path) =>
      fetch(`${node.url}api/v1/log/${path}?src==slow.log&${slow}`, leaving)
        .then((answer) => answer.text())
        .catch(() => ''),
    );
    await eventually(async () => expect(await node.metric('porthole_searches')).toBe(3));
    for (const path of ['search?q=needle&budget=1s&src==plain.log', 'search?q=needle&budget=1s']) {
      const { status, text } = await node.request(`api/v1/log/${path}`);
      expect([status, lastLine(text)]).toMatchObject([200, { type: 'end' }]);
    }
    // A search is counted until its thread has noticed that it is over.
    await eventually(async () => expect(await node.metric('porthole_searches')).toBe(3));
    leaving.abort();
    await Promise.all(attacks);
    await eventually(async () => expect(await node.metric('porthole_scan_jobs')).toBe(0));
    await node.expectHealthy();
  });

  it('is ended when its client has left, also in the middle of a record', async () => {
    const node = await AttackedNode.start({ files: { 'slow.log': slowLog(3, 200_000) } });
    const clients = Array.from({ length: 8 }, () => new AbortController());
    const attacks = clients.map(({ signal }) =>
      fetch(`${node.url}api/v1/log/search?src==slow.log&${slow}`, { signal })
        .then((answer) => answer.text())
        .catch(() => ''),
    );
    await eventually(async () => expect(await node.metric('porthole_searches')).toBe(8));
    for (const client of clients) client.abort();
    await Promise.all(attacks);
    await eventually(async () => expect(await node.metric('porthole_searches')).toBe(0));
    expect(await node.metric('porthole_scan_jobs')).toBe(0);
    const { text } = await node.request('api/v1/log/search?src==slow.log&regex=INFO&limit=1');
    expect(lastLine(text)).toMatchObject({ records: 1 });
    await node.expectHealthy();
  });

  it('is refused before it is compiled where its counts multiply', async () => {
    const node = await AttackedNode.start({ files: { 'a.log': `${HEAD}text\n` } });
    const regex = encodeURIComponent('(?:.?){1000}'.repeat(110));
    for (const path of ['search', 'histogram', 'digest', 'follow']) {
      const { status, text } = await node.request(`api/v1/log/${path}?src==a.log&regex=${regex}`);
      expect([status, JSON.parse(text)]).toMatchObject([400, { code: 'REGEX_TOO_COMPLEX' }]);
    }
    expect(await node.metric('porthole_scan_threads_replaced_total')).toBe(0);
    await node.expectHealthy();
  });
});
