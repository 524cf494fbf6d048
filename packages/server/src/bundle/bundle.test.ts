import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { ClusterConfigDiff, ClusterDigest, ClusterNodes } from '@porthole/contract';
import { eventually, scaled } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { freePorts } from '../testing/free-ports.ts';
import { fetchBundle, line, RANGE, startBundleCluster } from './testing/bundle-cluster.ts';

/** Before, within and behind the time that is asked for; not next to its ends, since clocks are never quite sure. */
const createLog = (node: string) =>
  line('04:59:50', `early of ${node}`) +
  line('05:00:10', `first of ${node}`) +
  line('05:30:00', `failure of ${node}`, 'ERROR') +
  '\tat somewhere\n' +
  line('06:00:10', `late of ${node}`);

describe('the bundle of a cluster', () => {
  it('has everything of every member, the manifest last', async () => {
    const [first] = await startBundleCluster({
      nodes: [
        { files: { 'a.log': createLog('n1') } },
        { files: { 'a.log': createLog('n2'), 'b.log': createLog('b') } },
      ],
    });
    const { files, manifest, text, json } = await fetchBundle(first?.port ?? 0);
    expect(files.map(({ name }) => name)).toEqual([
      'members.json',
      'versions.json',
      'config/n1.toml',
      'config/n1.settings.json',
      'config/n2.toml',
      'config/n2.settings.json',
      'config-diff.json',
      'health.json',
      'metrics.txt',
      'digest.json',
      'recent-events.json',
      'config-history.json',
      'incident.html',
      'logs/merged.log',
      'logs/n1/a.log',
      'logs/n2/a.log',
      'logs/n2/b.log',
      'manifest.json',
    ]);
    expect(manifest).toMatchObject({ cluster: 'test', isComplete: true, missing: [], madeBy: { id: 'n1' } });
    expect(json<ClusterNodes>('members.json').nodes.map(({ id, state }) => [id, state])).toEqual([
      ['n1', 'up'],
      ['n2', 'up'],
    ]);
    expect(text('config/n2.toml')).toContain('node-id = "n2"');
    expect(json<ClusterConfigDiff>('config-diff.json').roles[0]?.nodes).toEqual(['n1', 'n2']);
    expect(json<ClusterDigest>('digest.json').groups.map(({ level, count }) => [level, count])).toEqual([
      ['ERROR', 3],
      ['INFO', 3],
    ]);
    expect(json('recent-events.json')).toMatchObject({
      events: [],
      end: { members: [{ outcome: 'ok' }, { outcome: 'ok' }] },
    });
    expect(json('config-history.json')).toMatchObject({
      nodes: [
        { id: 'n1', history: { periods: [{ toMs: null }] } },
        { id: 'n2', history: { periods: [{ toMs: null }] } },
      ],
    });
    expect(text('metrics.txt')).toContain('porthole_cluster_members 2');
    expect(json<{ status: string }>('health.json').status).toBe('ready');
    expect(json<{ members: object[] }>('versions.json').members).toMatchObject([
      { id: 'n1', node: process.versions.node },
      { id: 'n2', node: process.versions.node },
    ]);
  });

  it('lists the hash and the length of every file in a manifest of its schema', async () => {
    const [first] = await startBundleCluster({ nodes: [{ files: { 'a.log': createLog('n1') } }] });
    const { files, manifest } = await fetchBundle(first?.port ?? 0);
    const expected = files
      .filter(({ name }) => name !== 'manifest.json')
      .map(({ name, content }) => ({
        name,
        bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
      }));
    expect(manifest.entries.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 }))).toEqual(expected);
    expect(new Set(files.map(({ timeMs }) => timeMs))).toEqual(new Set([Math.floor(manifest.madeMs / 1000) * 1000]));
  });

  it('has only the requested time range of the logs: merged with node names, and byte for byte', async () => {
    const nodes = [{ files: { 'a.log': createLog('n1') } }, { files: { 'a.log': createLog('n2') } }];
    const [first] = await startBundleCluster({ nodes });
    const { text } = await fetchBundle(first?.port ?? 0);
    const lines = createLog('n2').split('\n');
    expect(text('logs/n2/a.log')).toBe(`${lines.slice(1, 4).join('\n')}\n`);
    const merged = text('logs/merged.log').trimEnd().split('\n');
    // Their clocks differ by next to nothing, so the order between them is not certain.
    const labelled = (node: string, what: string) =>
      expect.stringContaining(`\t[${node}] [a.log] [A]: ${what} of ${node}`);
    expect(merged).toHaveLength(6);
    expect(merged.slice(0, 2)).toEqual(expect.arrayContaining([labelled('n1', 'first'), labelled('n2', 'first')]));
    expect(merged).toEqual(expect.arrayContaining([labelled('n1', 'failure'), labelled('n2', 'failure')]));
    expect(merged.filter((each) => each === '\tat somewhere')).toHaveLength(2);
  });

  it('has what was rotated and compressed, as text', async () => {
    const files = {
      'a.log': line('05:50:00', 'live'),
      'a.log.1': line('05:20:00', 'rotated'),
      'a.log.2.gz': gzipSync(line('04:00:00', 'too early') + line('05:10:00', 'packed')),
      'old.log': line('03:00:00', 'old'),
      'new.log': line('07:00:00', 'new'),
      'empty.log': '',
      core: Buffer.from([0, 1, 2, 3, 0, 0, 0, 255]),
      'notes.txt': 'no times in here\n',
    };
    const [first] = await startBundleCluster({ nodes: [{ files }] });
    const { manifest, text } = await fetchBundle(first?.port ?? 0);
    const logs = manifest.entries.filter(({ file }) => file !== null);
    expect(logs.map(({ name, file }) => [name, file])).toEqual([
      ['logs/n1/a.log', 'a.log'],
      ['logs/n1/a.log.1', 'a.log.1'],
      ['logs/n1/a.log.2', 'a.log.2.gz'],
      ['logs/n1/notes.txt', 'notes.txt'],
    ]);
    expect(text('logs/n1/a.log.2')).toBe(line('05:10:00', 'packed'));
    expect(text('logs/n1/notes.txt')).toBe('no times in here\n');
    expect(manifest.isComplete).toBe(true);
  });

  it('has all of a compressed file, even if that takes several searches', async () => {
    const whole = Array.from({ length: 250 }, (_, index) => line('05:10:00', `number ${index}`)).join('');
    const settings = { search: { maxRecords: 100 }, cluster: { firstBatchTimeoutMs: scaled(10_000) } };
    const nodes = [{ files: { 'a.log.1.gz': gzipSync(whole) }, settings }];
    const [first] = await startBundleCluster({ nodes });
    const { manifest, text } = await fetchBundle(first?.port ?? 0);
    expect(manifest.isComplete).toBe(true);
    expect(text('logs/n1/a.log.1')).toBe(whole);
    expect(text('logs/merged.log').trimEnd().split('\n')).toHaveLength(250);
  });

  it('of a node that is alone is one of its own logs and configuration', async () => {
    const [alone] = await startBundleCluster({
      nodes: [{ files: { 'a.log': createLog('n1') }, settings: { cluster: { members: [] } } }],
    });
    const { manifest, text } = await fetchBundle(alone?.port ?? 0);
    expect(manifest).toMatchObject({ isComplete: true, members: [{ id: 'n1', outcome: 'ok' }] });
    expect(text('logs/n1/a.log')).toContain('first of n1');
  });

  it('is of the members that are selected', async () => {
    const nodes = [{ files: { 'a.log': createLog('n1') } }, { files: { 'a.log': createLog('n2') } }];
    const [first] = await startBundleCluster({ nodes });
    const { manifest, text } = await fetchBundle(first?.port ?? 0, `${RANGE}&nodes=n2`);
    expect(manifest.selection).toEqual({ nodes: ['n2'], role: null });
    expect(manifest.members.map(({ id }) => id)).toEqual(['n2']);
    expect(manifest.entries.some(({ name }) => name.includes('n1'))).toBe(false);
    expect(text('logs/merged.log')).not.toContain('n1');
  });

  it('names a member that is dead, and has all of the others', async () => {
    const [port] = await freePorts(1);
    const [first] = await startBundleCluster({
      nodes: [{ files: { 'a.log': createLog('n1') } }],
      others: [`dead=http://127.0.0.1:${port}`],
    });
    const { manifest, text } = await fetchBundle(first?.port ?? 0);
    expect(manifest.isComplete).toBe(false);
    expect(manifest.members.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['dead', 'refused'],
      ['n1', 'ok'],
    ]);
    expect(manifest.missing.map(({ name, node }) => [name, node])).toEqual([
      ['config/dead.toml', 'dead'],
      ['config/dead.settings.json', 'dead'],
      ['logs/dead', 'dead'],
    ]);
    const merged = manifest.entries.find(({ name }) => name === 'logs/merged.log');
    expect(merged?.problems).toEqual([expect.stringMatching(/^dead: refused/)]);
    expect(text('logs/n1/a.log')).toContain('first of n1');
  });

  it('has what is kept of a member that died, in its own folder, and says that it is a part, and as of when', async () => {
    const dir = tempDir();
    const settings = { cluster: { refreshMs: 500, recordDir: dir, recorders: 1 } };
    const nodes = [
      { files: { 'a.log': createLog('n1') }, settings },
      { files: { 'a.log': createLog('n2'), 'b.log': createLog('b') } },
    ];
    const [first, second] = await startBundleCluster({ nodes });
    const port = first?.port ?? 0;
    await eventually(() => {
      expect(readdirSync(join(dir, 'n2', 'log'))).toHaveLength(2);
      expect(readdirSync(join(dir, 'n2'))).toContain('member.json');
    });
    await second?.running.stop();
    const { manifest, text } = await fetchBundle(port);
    const asOf = /only what was recorded: .*recorded by n1, until \d\d:/;
    for (const [name, file, log] of [
      ['logs/n2/a.log', 'a.log', createLog('n2')],
      ['logs/n2/b.log', 'b.log', createLog('b')],
    ] as const) {
      expect(text(name)).toBe(`${log.split('\n').slice(1, 4).join('\n')}\n`);
      const entry = manifest.entries.find((each) => each.name === name);
      expect(entry).toMatchObject({ node: 'n2', file, isCut: true, problems: [expect.stringMatching(asOf)] });
    }
    expect(manifest.isComplete).toBe(false);
    expect(manifest.missing.find(({ name }) => name === 'logs/n2')?.reason).toMatch(
      /recorded by n1, until .*; that is included/,
    );
  });

  it('has only safe names, whatever members and files are called', async () => {
    const files = {
      '-rf': line('05:00:01', 'dash'),
      '..hidden': line('05:00:02', 'dots'),
      'a\\b:c\n.log': line('05:00:03', 'odd'),
      'größe.log': line('05:00:04', 'umlauts'),
      'A.log': line('05:00:05', 'upper'),
      'a.log': line('05:00:06', 'lower'),
      NUL: line('05:00:07', 'device'),
    };
    const [first] = await startBundleCluster({
      nodes: [{ files, settings: { cluster: { nodeId: 'db:7300', members: [] } } }],
    });
    const { manifest, files: zipped } = await fetchBundle(first?.port ?? 0);
    for (const { name } of zipped)
      expect(name).toMatch(/^([A-Za-z0-9_][A-Za-z0-9._-]*\/)*[A-Za-z0-9_][A-Za-z0-9._-]*$/);
    expect(new Set(zipped.map(({ name }) => name.toLowerCase())).size).toBe(zipped.length);
    const logs = manifest.entries.filter(({ file }) => file !== null).map(({ file }) => file);
    // A backslash in a name is never given out by a log directory.
    expect(logs.sort()).toEqual(
      Object.keys(files)
        .filter((name) => !name.includes('\\'))
        .sort(),
    );
  });

  it('has no secret in any of its files', async () => {
    const secret = 'correct-horse-battery-staple';
    const token = 'token-of-the-cluster-7f3a9c';
    const configFile = join(tempDir(), 'service.toml');
    const tokenFile = join(tempDir(), 'token');
    writeFileSync(
      configFile,
      `# password was ${secret}\n[user]\npassword = "${secret}"\nurl = "http://ann:${secret}@db/"\n`,
    );
    writeFileSync(tokenFile, token);
    const text = line('05:10:00', `login with ${secret}`) + line('05:11:00', `asked with ${token}`, 'ERROR');
    const files = { 'a.log': text, 'a.log.1.gz': gzipSync(text), 'notes.txt': `no time, but ${secret}\n` };
    const settings = { service: { configFile }, cluster: { tokenFile } };
    const [first] = await startBundleCluster({
      nodes: [
        { files, settings },
        { files, settings },
      ],
    });
    const bundle = await fetchBundle(first?.port ?? 0);
    expect(bundle.manifest.entries.filter(({ file }) => file !== null)).toHaveLength(6);
    expect(bundle.text('logs/n2/a.log')).toContain('login with ****');
    for (const { name, content } of bundle.files)
      for (const hidden of [secret, token]) expect(content.includes(hidden), name).toBe(false);
  });

  it('has the text of a configuration in another format too', async () => {
    const configFile = join(tempDir(), 'redis.conf');
    writeFileSync(configFile, '# the cache\nport 6379\nrequirepass correct-horse-battery\n');
    const [first] = await startBundleCluster({ nodes: [{ files: {}, settings: { service: { configFile } } }] });
    const bundle = await fetchBundle(first?.port ?? 0);
    expect(bundle.text('config/n1.source.txt')).toBe('# the cache\nport 6379\nrequirepass ******\n');
    expect(bundle.text('config/n1.toml')).toBe('port = 6379\nrequirepass = "******"\n');
  });
});
