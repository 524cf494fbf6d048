import { randomBytes } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createClient } from '@porthole/client';
import { httpCluster } from '@porthole/client/testing';
import { FakeLindb } from '@porthole/cluster/testing';
import type { ClusterState, NodeState } from '@porthole/contract';
import { eventually, openBelow, scaled } from '@porthole/logs/testing';
import { batchOf } from '@porthole/records';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { openRequest, requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode, type TestNode } from '../testing/test-node.ts';
import { openBundle } from './open-bundle.ts';
import { type Bundle, fetchBundle, line, RANGE, readBundle, startBundleCluster } from './testing/bundle-cluster.ts';

const PATH = `/api/v1/bundle?nodes=*&${RANGE}`;
const MEBIBYTE = 1024 ** 2;

/** Lines of a quarter kilobyte that cannot be compressed, over the whole hour. */
function longLog(bytes: number): string {
  const count = Math.floor(bytes / 256);
  const noise = randomBytes(count * 100).toString('hex');
  return Array.from({ length: count }, (_, index) => {
    const second = 30 + Math.floor((index * 3500) / count);
    const time = `05:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}`;
    return line(time, `${index} ${noise.slice(index * 200, index * 200 + 200)}`);
  }).join('');
}

/** The metrics of a node that show what it holds open. */
async function held({ port }: TestNode): Promise<Record<string, number>> {
  const text = (await sendRequest(port, '/metrics')).body.toString();
  const value = (name: string) => Number(new RegExp(`^porthole_${name} (\\d+)$`, 'm').exec(text)?.[1]);
  // The other node follows its events.
  const follows = Number(/^porthole_cluster_members (\d+)$/m.exec(text)?.[1]) - 1;
  return {
    streams: Math.max(0, value('open_streams') - follows),
    searches: value('searches'),
    jobs: value('scan_jobs'),
  };
}

/** A bundle of which nothing is read but the head. */
async function begin(port: number): Promise<IncomingMessage> {
  const response = await openRequest(port, PATH);
  response.on('error', () => {});
  onTestFinished(() => {
    response.destroy();
  });
  return response;
}

/** A bundle of at most 1 MiB of this cluster. */
async function readWhole(cluster: ClusterState, { timeoutMs = scaled(60_000) } = {}): Promise<Bundle> {
  const bundle = await openBundle(
    {
      health: { check: async () => ({ status: 'ready', checks: [] }), problems: async () => [] },
      metrics: { render: async () => '' },
      maxBytes: MEBIBYTE,
      timeoutMs,
      maxRecords: 100,
      searchBudgetMs: 60_000,
      countBudgetMs: 10_000,
    },
    {
      cluster,
      request: { fromMs: Date.parse('2026-11-15T05:00:00Z'), toMs: Date.parse('2026-11-15T06:00:00Z') },
      signal: new AbortController().signal,
    },
  );
  const parts: Uint8Array[] = [];
  for await (const part of bundle.chunks) parts.push(part);
  await bundle.close();
  return readBundle(Buffer.concat(parts));
}

describe('the limits of a bundle', () => {
  it('configurations come first, and of logs that do not fit the newest part of each is kept', async () => {
    const [node] = await startBundleCluster({
      nodes: [
        {
          files: { 'loud.log': longLog(3 * MEBIBYTE), 'quiet.log': line('05:01:00', 'a word') },
          settings: { bundle: { maxBytes: MEBIBYTE } },
        },
      ],
    });
    const { manifest, files, text } = await fetchBundle(node?.port ?? 0);
    const total = manifest.entries.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(total).toBeLessThanOrEqual(MEBIBYTE);
    expect(manifest.isComplete).toBe(false);
    const findEntry = (name: string) => manifest.entries.find((entry) => entry.name === name);
    expect(findEntry('config/n1.toml')).toMatchObject({ isCut: false, problems: [] });
    expect(findEntry('logs/n1/quiet.log')).toMatchObject({ isCut: false, problems: [] });
    expect(findEntry('logs/n1/loud.log')).toMatchObject({
      isCut: true,
      problems: [expect.stringContaining('the size limit is reached')],
    });
    const loud = text('logs/n1/loud.log').split('\n');
    const count = (3 * MEBIBYTE) / 256;
    expect(loud.at(-2)).toContain(`[A]: ${count - 1} `);
    expect(loud[0]).toMatch(/^2026-11-15 05:\d\d:\d\d\.000\tINFO/);
    // The merged log begins where the loud one does, and has its end too.
    expect(findEntry('logs/merged.log')).toMatchObject({ isCut: true });
    const merged = text('logs/merged.log').trimEnd().split('\n');
    expect(merged.at(-1)).toContain(`[A]: ${count - 1} `);
    expect(merged[0]?.slice(0, 19)).toBe(loud[0]?.slice(0, 19));
    expect(files.at(-1)?.name).toBe('manifest.json');
  });

  it('one at a time; the next one is refused with a time to retry', async () => {
    const [node] = await startBundleCluster({ nodes: [{ files: { 'a.log': longLog(3 * MEBIBYTE) } }] });
    const port = node?.port ?? 0;
    const first = await begin(port);
    expect(first.statusCode).toBe(200);
    expect(first.headers['content-disposition']).toMatch(
      /^attachment; filename="porthole-bundle-test-\d{8}T\d{6}Z\.zip"$/,
    );
    const { status, code, headers } = await requestProblem(port, PATH);
    expect({ status, code }).toEqual({ status: 503, code: 'BUNDLE_UNDER_WAY' });
    expect(headers['retry-after']).toBe('10');
    const parts: Buffer[] = [];
    for await (const part of first) parts.push(part as Buffer);
    expect(readBundle(Buffer.concat(parts)).manifest.isComplete).toBe(true);
    await eventually(async () => expect((await sendRequest(port, PATH)).status).toBe(200));
  });

  it('a reader that leaves midway leaves nothing behind', async () => {
    const settings = { search: { maxRecords: 1000 } };
    const nodes = [1, 2].map(() => ({ files: { 'a.log': longLog(MEBIBYTE) }, settings }));
    const cluster = await startBundleCluster({ nodes });
    const [first] = cluster;
    const response = await begin(first?.port ?? 0);
    await new Promise((resolve) => response.once('data', resolve));
    response.destroy();
    for (const node of cluster)
      await eventually(async () => {
        expect(await held(node)).toEqual({ streams: 0, searches: 0, jobs: 0 });
        expect(openBelow(node.logDir)).toBe(0);
      });
    const { manifest, text } = await fetchBundle(first?.port ?? 0);
    expect(manifest.isComplete).toBe(true);
    // More than one search may return: page by page, nothing is lost or duplicated.
    const merged = text('logs/merged.log').trimEnd().split('\n');
    expect(merged).toHaveLength((2 * MEBIBYTE) / 256);
    expect(new Set(merged).size).toBe(merged.length);
  });

  it('a reader that does not read slows it: what was read stays a small part of the logs', async () => {
    const cluster = await startBundleCluster({
      nodes: [{ files: { 'a.log': 'x\n' } }, { files: { 'a.log': longLog(24 * MEBIBYTE) } }],
    });
    const [first, second] = cluster;
    const response = await begin(first?.port ?? 0);
    const sent = async () => {
      const text = (await sendRequest(second?.port ?? 0, '/metrics')).body.toString();
      const search = /^porthole_http_response_bytes_total\{[^}]*route="logSearch"[^}]*\} (\d+)$/m.exec(text)?.[1];
      return Number(search ?? 0);
    };
    let before = -1;
    await eventually(async () => {
      const now = await sent();
      const isStill = before === now && now > 0;
      before = now;
      expect(isStill).toBe(true);
    });
    // As lines of JSON it is twice as long. The system may buffer all of a page, but no other is requested.
    expect(before).toBeLessThan(24 * MEBIBYTE);
    response.destroy();
    for (const node of cluster)
      await eventually(async () => expect(await held(node)).toEqual({ streams: 0, searches: 0, jobs: 0 }));
  });

  it('a timeout ends it with what was collected, and the manifest says so', async () => {
    const [node] = await startBundleCluster({ nodes: [{ files: { 'a.log': longLog(MEBIBYTE) } }] });
    const cluster = httpCluster(createClient({ url: node?.running.url ?? '' }));
    const { manifest } = await readWhole(cluster, { timeoutMs: 1 });
    expect(manifest.isComplete).toBe(false);
    expect(manifest.missing.at(-1)).toMatchObject({ name: 'logs', reason: expect.stringContaining('bundle.timeout') });
  });

  it('a log that is rotated while the bundle is made is there all the same', async () => {
    const [node] = await startBundleCluster({
      nodes: [{ files: { 'a.log': longLog(3 * MEBIBYTE), 'b.log': line('05:30:00', 'of b') } }],
    });
    const { logDir = '', port = 0 } = node ?? {};
    const response = await begin(port);
    renameSync(join(logDir, 'b.log'), join(logDir, 'b.log.1'));
    writeFileSync(join(logDir, 'b.log'), line('07:00:00', 'of a new b'));
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    const { files, text } = readBundle(Buffer.concat(parts));
    const [name = ''] = files.map((file) => file.name).filter((each) => each.startsWith('logs/n1/b.log'));
    expect(text(name)).toBe(line('05:30:00', 'of b'));
  });
});

describe('the room of a bundle is shared fairly', () => {
  const lengthOf = ({ manifest }: Bundle, name: string) =>
    manifest.entries.find((entry) => entry.name === name)?.bytes ?? 0;

  it('a member that lists files and delivers none takes nothing from the others', async () => {
    const text = longLog(3 * MEBIBYTE);
    const bundleBeside = async ({ url }: FakeLindb) => {
      const node = { files: { 'a.log': text }, settings: { bundle: { maxBytes: MEBIBYTE } } };
      const [first] = await startBundleCluster({ nodes: [node], others: [`other=${url}`] });
      return fetchBundle(first?.port ?? 0);
    };
    const liar = await FakeLindb.start();
    for (let index = 0; index < 50; index++) {
      liar.files.set(`${index}.log`, Buffer.alloc(MEBIBYTE));
      liar.unreadable.add(`${index}.log`);
    }
    const honest = await bundleBeside(await FakeLindb.start());
    const lying = await bundleBeside(liar);
    for (const name of ['logs/n1/a.log', 'logs/merged.log']) {
      expect(lengthOf(honest, name)).toBeGreaterThan(300_000);
      expect(lengthOf(lying, name)).toBeGreaterThan(lengthOf(honest, name) * 0.98);
    }
    expect(lying.manifest.missing).toContainEqual({
      name: 'logs/other/0.log',
      node: 'other',
      reason: expect.stringMatching(/^LOG_FILE_UNREADABLE/),
    });
  });

  /** A bundle of two nodes, the second of which lies in these operations. */
  async function bundleWith(
    files: Record<string, string | Buffer>,
    lies: Partial<NodeState>,
    name?: string,
  ): Promise<Bundle> {
    const [n1, n2] = await startBundleCluster({ nodes: [{ files: { 'a.log': longLog(2 * MEBIBYTE) } }, { files }] });
    const urls = { n1: n1?.running.url ?? '', n2: n2?.running.url ?? '' };
    const cluster = httpCluster(createClient({ url: urls.n1 }), urls);
    const [states, list] = [cluster.member.bind(cluster), cluster.logFiles.bind(cluster)];
    const member = (id: string) => Object.assign(states(id), id === 'n2' && lies);
    const logFiles: ClusterState['logFiles'] = async (...given) => {
      const listed = await list(...given);
      const rename = (file: (typeof listed.files)[number]) =>
        file.node === 'n2' && name !== undefined ? { ...file, name } : file;
      return { ...listed, files: listed.files.map(rename) };
    };
    return readWhole(Object.assign(cluster, { member, logFiles }));
  }

  it('room of a member that delivers less than it found is left for the others', async () => {
    const openLog = async () => {
      const nothing = async function* () {};
      return { name: 'b.log', sizeBytes: 1, modifiedMs: 1, etag: '', read: nothing, close: async () => {} };
    };
    const bundle = await bundleWith({ 'b.log': longLog(3 * MEBIBYTE) }, { openLog });
    // 0.4 of 1 MiB is for files; half of that was planned for each.
    expect(lengthOf(bundle, 'logs/n1/a.log')).toBeGreaterThan(0.35 * MEBIBYTE);
    expect(bundle.manifest.missing).toContainEqual({
      name: 'logs/n2/b.log',
      node: 'n2',
      reason: expect.stringMatching(/^the member lists \d+ bytes of it and delivers none$/),
    });
  });

  it('a member that delivers more than it found is cut there', async () => {
    const text = line('05:10:00', 'first') + line('05:11:00', 'second');
    const packed = gzipSync(text);
    const search: NodeState['search'] = async function* (query) {
      const found = { type: 'record', file: 'b.log.1.gz', bytes: 50, timeMs: 1, message: 'x'.repeat(10_000) } as const;
      const emitted = (offset: number) => batchOf([Object.assign({ offset, cursor: 'c' }, found)]);
      const isLast = query.order === 'newest';
      if (query.limit === 1) yield emitted(isLast ? 50 : 0);
      else for (;;) yield emitted(0);
    };
    const bundle = await bundleWith({ 'b.log.1.gz': packed }, { search });
    const entry = bundle.manifest.entries.find(({ name }) => name === 'logs/n2/b.log.1');
    expect(entry).toMatchObject({ isCut: true, problems: ['more than 300 bytes of it came'] });
    expect(entry?.bytes).toBeLessThanOrEqual(300);
    expect(lengthOf(bundle, 'logs/n1/a.log')).toBeGreaterThan(0.35 * MEBIBYTE);
  });

  it('names in the manifest cannot lead out of a directory, and nothing in it is acted on by a terminal', async () => {
    const name = '../\u001b[31m\u009b2J\u202e.log';
    const search = () => {
      throw new Error('refused: \u009b2J\u202e');
    };
    const bundle = await bundleWith({ 'b.log': line('05:10:00', 'x') }, { search }, name);
    expect(bundle.manifest.missing.map((each) => each.name)).toEqual(['logs/n2/____31m_2J_.log']);
    const shown = bundle.text('manifest.json');
    expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(bundle.manifest.missing[0]?.reason).toBe('refused: \u009b2J\u202e');
  });
});

describe('the route of the bundle', () => {
  it.each([
    ['since=soon', 'PARAMETER_INVALID'],
    ['since=1h&until=2h', 'PARAMETER_INVALID'],
    ['since=1h&since=2h', 'BAD_REQUEST'],
    ['nodes=absent', 'MEMBER_NOT_FOUND'],
    ['role=a%20b', 'PARAMETER_INVALID'],
  ])('refuses %s', async (query, code) => {
    const { port } = await startTestNode();
    expect((await requestProblem(port, `/api/v1/bundle?${query}`)).code).toBe(code);
    expect((await sendRequest(port, PATH)).status).toBe(200);
  });

  it('is not for members that ask on behalf of others', async () => {
    const { port } = await startTestNode();
    const { code } = await requestProblem(port, PATH, { headers: { 'porthole-via': 'n2' } });
    expect(code).toBe('REQUEST_LOOP');
  });

  it('responds to HEAD without creating one', async () => {
    const { port } = await startTestNode();
    const { status, headers, body } = await sendRequest(port, PATH, { method: 'HEAD' });
    expect({ status, type: headers['content-type'], length: headers['content-length'] }).toEqual({
      status: 200,
      type: 'application/zip',
      length: undefined,
    });
    expect(body.length).toBe(0);
  });

  it('is only for admins', async () => {
    const owners = [createToken('ann', ['admin']), createToken('vic', ['viewer', 'config'])];
    const path = join(tempDir(), 'tokens');
    writeFileSync(path, owners.map(({ line: row }) => `${row}\n`).join(''));
    const { port } = await startTestNode({ settings: { auth: { tokenFile: path } } });
    const pending = owners.map(({ token }) =>
      sendRequest(port, PATH, { headers: { authorization: `Bearer ${token}` } }),
    );
    const [admin, other] = await Promise.all(pending);
    expect([admin?.status, other?.status, (await sendRequest(port, PATH)).status]).toEqual([200, 403, 401]);
    expect(JSON.parse(other?.body.toString() ?? '')).toMatchObject({ code: 'FORBIDDEN' });
  });
});
