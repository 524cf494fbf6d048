import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterConfigDiff, NodeConfig } from '@porthole/contract';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { startBundleCluster } from '../bundle/testing/bundle-cluster.ts';
import { requestJson, requestProblem, requestSettings } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const TEXT = '# the broker\n[http]\nport = 9000\n[user]\npassword = "hunter2-hunter2"\n';

async function startBeside(text: string | undefined, settings = {}) {
  const configFile = join(tempDir(), 'service.toml');
  if (text !== undefined) writeFileSync(configFile, text);
  const { port } = await startTestNode({ settings: { ...settings, service: { configFile } } });
  return {
    port,
    configFile,
    config: async () => (await requestJson<NodeConfig>(port, '/api/v1/config')).config,
    settings: () => requestSettings(port),
    refusal: () => requestProblem(port, '/api/v1/config'),
  };
}

function replaceBy(make: (file: string) => unknown): (file: string) => void {
  return (file) => {
    rmSync(file);
    make(file);
  };
}

describe("the service's configuration", () => {
  it('is read again for every request', async () => {
    const { config, configFile } = await startBeside(TEXT);
    expect(await config()).toContain('port = 9000');
    writeFileSync(configFile, TEXT.replace('9000', '9001'));
    expect(await config()).toContain('port = 9001');
    expect(await config()).not.toContain('hunter2');
  });

  it('that is invalid is reported with its line and never with its text, until it is valid again', async () => {
    const { port, config, configFile, refusal } = await startBeside(TEXT);
    writeFileSync(configFile, 'a = 1\npassword = hunter2-without-quotes\n');
    const { status, code, detail } = await refusal();
    expect({ status, code }).toEqual({ status: 503, code: 'CONFIG_UNAVAILABLE' });
    expect(detail).toMatch(/service\.toml.*line 2/);
    expect(detail).not.toContain('hunter2');
    expect((await requestProblem(port, '/api/v1/config/settings')).code).toBe('CONFIG_UNAVAILABLE');
    writeFileSync(configFile, TEXT);
    expect(await config()).toContain('# the broker');
  });

  it.each([
    ['gone', (file: string) => rmSync(file), 'ENOENT'],
    ['a directory', replaceBy(mkdirSync), 'not a regular file'],
    ['a FIFO', replaceBy((file) => execFileSync('mkfifo', [file])), 'not a regular file'],
    ['too large', (file: string) => writeFileSync(file, `# ${'x'.repeat(2000)}\n`), 'config.max-bytes'],
    ['not UTF-8', (file: string) => writeFileSync(file, Buffer.from([0x61, 0xff])), 'not UTF-8'],
  ])('that is %s is a 503 that says so', async (_what, change, reason) => {
    const { configFile, refusal } = await startBeside(TEXT, { config: { maxBytes: 1024 } });
    change(configFile);
    const { status, code, detail } = await refusal();
    expect({ status, code }).toEqual({ status: 503, code: 'CONFIG_UNAVAILABLE' });
    expect(detail).toContain(reason);
  });

  it('may come after the node', async () => {
    const { config, configFile, refusal, settings } = await startBeside(undefined);
    expect((await refusal()).code).toBe('CONFIG_UNAVAILABLE');
    writeFileSync(configFile, TEXT);
    expect(await config()).toContain('port = 9000');
    expect((await settings()).disk).toMatchObject({ state: 'changed', detail: 'it could not be read at start' });
  });

  it('is returned key by key, with the keys that differ from those at start', async () => {
    const { configFile, settings } = await startBeside(TEXT);
    const before = await settings();
    expect(before).toMatchObject({ observes: 'service', file: configFile, disk: { state: 'same', differs: [] } });
    expect(before.settings).toEqual([
      { key: 'http.port', value: 9000, default: null, changed: null, source: 'file', secret: false },
      { key: 'user.password', value: '******', default: null, changed: null, source: 'file', secret: true },
    ]);
    writeFileSync(configFile, `# only a comment\n${TEXT}`);
    expect((await settings()).disk).toEqual({
      state: 'same',
      differs: [],
      detail: null,
      textAtStart: TEXT.replace('hunter2-hunter2', '******'),
    });
  });

  it('has both values of each key that was changed, removed or added since start, and the text at start', async () => {
    const { configFile, settings } = await startBeside(`${TEXT}[old]\nkey = true\n`);
    writeFileSync(configFile, `${TEXT.replace('9000', '9001').replace('hunter2-', 'hunter3-')}[new]\nkey = [1]\n`);
    const { disk, settings: now } = await settings();
    expect(disk).toEqual({
      state: 'changed',
      differs: ['http.port', 'user.password', 'old.key', 'new.key'],
      detail: null,
      changes: [
        { key: 'http.port', atStart: 9000, onDisk: 9001 },
        { key: 'user.password', atStart: '******', onDisk: '******' },
        { key: 'old.key', atStart: true, onDisk: null },
        { key: 'new.key', atStart: null, onDisk: [1] },
      ],
      textAtStart: `${TEXT.replace('hunter2-hunter2', '******')}[old]\nkey = true\n`,
    });
    expect(now.find(({ key }) => key === 'http.port')?.value).toBe(9001);
  });
});

describe("the service's configuration in another format", () => {
  const YAML = '# the node\nhttp:\n  port: 9000 # where it listens\nuser:\n  password: hunter2-hunter2\n';

  async function startBesideFile(name: string, text: string) {
    const configFile = join(tempDir(), name);
    writeFileSync(configFile, text);
    const { port } = await startTestNode({ settings: { service: { configFile } } });
    return { port, configFile };
  }

  it('is TOML by default, and its own masked text on request', async () => {
    const { port, configFile } = await startBesideFile('service.yaml', YAML);
    const { config, node } = await requestJson<NodeConfig>(port, '/api/v1/config');
    expect(config).toBe('[http]\nport = 9000\n\n[user]\npassword = "******"\n');
    expect(await requestJson<NodeConfig>(port, '/api/v1/config?format=source')).toEqual({
      config: YAML.replace('hunter2-hunter2', '"******"'),
      node,
    });
    expect((await requestJson<NodeConfig>(port, '/api/v1/config?format=toml')).config).toBe(config);
    expect(await requestProblem(port, '/api/v1/config?format=yaml')).toMatchObject({
      status: 400,
      code: 'PARAMETER_INVALID',
    });
    writeFileSync(configFile, YAML.replace('9000', '9001'));
    expect(await requestSettings(port)).toMatchObject({
      format: 'yaml',
      settings: [
        { key: 'http.port', value: 9001, source: 'file', default: null, file: configFile, line: 3 },
        { key: 'user.password', value: '******', secret: true, line: 5 },
      ],
      disk: { state: 'changed', differs: ['http.port'] },
    });
  });

  it('that is in no known format is shown as text, and the node is not degraded', async () => {
    const text = 'Nothing that a reader knows, or could know.\nIt logs in as app:hunter2-hunter2@db1.\n';
    const { port } = await startBesideFile('service.txt', text);
    const masked = text.replace('hunter2-hunter2', '******');
    expect((await requestJson<NodeConfig>(port, '/api/v1/config?format=source')).config).toBe(masked);
    const { settings, format } = await requestSettings(port);
    expect(format).toBe('text');
    expect(settings).toMatchObject([{ key: 'text', value: masked.split('\n') }]);
    expect(await requestJson(port, '/health/ready')).toMatchObject({ status: 'ready' });
  });

  it('that is broken is shown as text with the reason, and its secrets masked', async () => {
    const { port } = await startBesideFile('service.yaml', `${YAML}broken: [1\n`);
    const { problems } = await requestSettings(port);
    expect(problems).toEqual([
      expect.stringMatching(/service\.yaml: it cannot be read as yaml: not valid YAML \(line \d+\)$/),
    ]);
    const { config } = await requestJson<NodeConfig>(port, '/api/v1/config?format=source');
    expect(config).toContain('broken: [1');
    expect(config).not.toContain('hunter2');
  });

  it('masks its secrets in the text of logs', async () => {
    const configFile = join(tempDir(), 'redis.conf');
    writeFileSync(configFile, 'port 6379\nrequirepass hunter2-hunter2\n');
    const files = { 'a.log': '2026-11-15 10:00:00.000\tINFO\tmain.go:1\t[x]: login with hunter2-hunter2\n' };
    const { port } = await startTestNode({ files, settings: { service: { configFile } } });
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/log/view?file=a.log`);
    expect(await response.text()).toMatch(/login with \*+\n$/);
  });

  it('is compared between members, by the meaning of its values', async () => {
    const confs = ['shared_buffers = 64MB\nwork_mem = 4MB\n', 'shared_buffers = 65536kB\nwork_mem = 8MB\n'];
    const nodes = await startBundleCluster({
      nodes: confs.map((text) => {
        const configFile = join(tempDir(), 'postgresql.conf');
        writeFileSync(configFile, text);
        return { files: {}, settings: { service: { configFile } } };
      }),
    });
    const port = nodes[0]?.port ?? 0;
    const { roles } = await requestJson<ClusterConfigDiff>(port, '/api/v1/config/diff');
    expect(roles[0]?.differences).toMatchObject([
      { key: 'shared_buffers', values: [{ isMajority: true }, { isSameMeaning: true }] },
      { key: 'work_mem', values: [{ value: '4MB' }, { value: '8MB', isSameMeaning: false }] },
    ]);
    const { config } = await requestJson<NodeConfig>(port, '/api/v1/nodes/n2/config?format=source');
    expect(config).toBe(confs[1]);
  });
});

describe("the node's own settings", () => {
  it('are those it runs with, and the file on disk is compared with them', async () => {
    const file = join(tempDir(), 'porthole.toml');
    writeFileSync(file, '[http]\nmax-streams = 5\n');
    const { port } = await startTestNode({ file });
    const settings = () => requestSettings(port);
    const before = await settings();
    expect(before).toMatchObject({ observes: 'self', file, disk: { state: 'same', differs: [], detail: null } });
    expect(before.settings.find(({ key }) => key === 'http.max-streams')).toEqual({
      key: 'http.max-streams',
      value: 5,
      default: 128,
      changed: true,
      source: 'file',
      secret: false,
    });
    writeFileSync(file, '[http]\nmax-streams = 6\n');
    const after = await settings();
    expect(after.disk).toEqual({
      state: 'changed',
      differs: ['http.max-streams'],
      detail: null,
      changes: [{ key: 'http.max-streams', atStart: 5, onDisk: 6 }],
    });
    expect(after.settings).toEqual(before.settings);
    writeFileSync(file, '[http]\nmax-streams = "many"\n');
    expect((await settings()).disk.state).toBe('broken');
    rmSync(file);
    expect((await settings()).disk.state).toBe('missing');
  });

  it('without a file have nothing to be compared with', async () => {
    const { port } = await startTestNode();
    expect((await requestSettings(port)).disk).toEqual({
      state: 'none',
      differs: [],
      detail: null,
    });
  });
});

describe('the configuration text of an embedding service', () => {
  it('is shown with its secrets masked, and fetched for each request', async () => {
    let password = 'hunter2-hunter2';
    const { port, running } = await startTestNode({ config: async () => `name = "lindb"\npassword = "${password}"\n` });
    expect((await requestJson<NodeConfig>(port, '/api/v1/config')).config).toBe(
      'name = "lindb"\npassword = "******"\n',
    );
    expect((await running.state.describe()).observes).toBe('service');
    password = 'another-secret';
    expect(await requestSettings(port)).toMatchObject({
      file: null,
      disk: { state: 'changed', differs: ['password'] },
    });
  });

  it('that cannot be loaded fails the request without the message of the failure', async () => {
    const config = () => {
      throw new Error('vault says: hunter2');
    };
    const { port } = await startTestNode({ config });
    const { status, detail } = await requestProblem(port, '/api/v1/config');
    expect(status).toBe(503);
    expect(detail).not.toContain('hunter2');
  });
});
