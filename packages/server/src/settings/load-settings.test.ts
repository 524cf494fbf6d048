import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LoadedSettings } from './load-settings.ts';
import { SettingsDir } from './testing/settings-dir.ts';

let dir: SettingsDir;
beforeAll(async () => {
  dir = await SettingsDir.create();
});
afterAll(() => dir.remove());

function findSetting(loaded: LoadedSettings, key: string) {
  const value = loaded.values.find(({ definition }) => definition.key === key);
  if (value === undefined) throw new Error(`no setting ${key}`);
  return value;
}

test('without any source every setting has its default', async () => {
  const loaded = await dir.load();
  expect(loaded.file).toBeNull();
  expect(loaded.warnings).toEqual([]);
  expect(loaded.values.every(({ source }) => source === 'default')).toBe(true);
  expect(loaded.settings).toEqual({
    node: { hostIp: '', hostName: '', labels: [], timeZone: '', stopTimeoutMs: 10_000 },
    http: {
      host: '127.0.0.1',
      port: 7300,
      socket: '',
      basePath: '',
      allowedHosts: [],
      corsOrigins: [],
      maxHeaderBytes: 16_384,
      maxUrlBytes: 8192,
      maxStreams: 128,
      maxStreamsPerClient: 0,
      maxRequestsPerSecond: 0,
      stallTimeoutMs: 30_000,
      answerTimeoutMs: 60_000,
    },
    grpc: { enabled: true, port: 7301, maxRequestBytes: 64 * 1024 },
    auth: {
      tokenFile: '',
      allowAnonymous: false,
      jwksUrl: '',
      jwksFile: '',
      jwtIssuer: '',
      jwtAudience: '',
      jwtAlgorithms: ['RS256', 'ES256', 'EdDSA'],
      jwtClockToleranceMs: 30_000,
      jwtNameClaim: 'sub',
      jwtRolesClaim: 'groups',
      jwtRoles: [],
      jwksRefetchMs: 30_000,
      jwksKeepMs: 86_400_000,
      clientCaFile: '',
      clientCrlFile: '',
      clientRoles: [],
      protectMetrics: true,
      deniedFiles: [],
      maxFailuresPerMinute: 60,
    },
    tls: { certFile: '', keyFile: '' },
    service: {
      configFile: '',
      configFiles: [],
      configFormat: 'auto',
      configCommand: [],
      pidFile: '',
      unit: '',
      logDir: '',
    },
    logging: {
      dir: join(dir.path, 'data/log'),
      to: 'directory',
      level: 'info',
      maxFileBytes: 67_108_864,
      maxFileAgeMs: 86_400_000,
      keepFiles: 8,
      keepAgeMs: 2_592_000_000,
      access: 'security',
      gzip: false,
    },
    log: {
      recursive: false,
      recursiveDepth: 4,
      recursiveFiles: 10_000,
      roots: [],
      journal: false,
      journalUnits: [],
      journalDir: '',
      journalMaxBytes: 256 * 1024 ** 2,
      formats: [],
    },
    logs: { scrub: true, scrubPatterns: [] },
    mcp: { enabled: false },
    loki: { enabled: false },
    search: {
      workers: 2,
      maxQueued: 64,
      maxQueuedPerClient: 0,
      budgetMs: 30_000,
      maxRecords: 10_000,
      maxIndexBytes: 16 * 1024 ** 2,
      maxIndexDisk: '2%',
    },
    follow: { bufferBytes: 4 * 1024 ** 2, maxLogs: 2000, heartbeatMs: 15_000, pollMs: 250 },
    cluster: {
      name: 'porthole',
      role: 'node',
      nodeId: '',
      members: [],
      memberZones: [],
      memberNetworks: [],
      httpsOnly: false,
      etcd: [],
      etcdUser: '',
      etcdPasswordFile: '',
      etcdCaFile: '',
      etcdCertFile: '',
      etcdKeyFile: '',
      lindbNamespace: '',
      tokenFile: '',
      caFile: '',
      certFile: '',
      keyFile: '',
      leaseMs: 10_000,
      memberTimeoutMs: 5000,
      firstBatchTimeoutMs: 2000,
      maxParallel: 64,
      recorders: 2,
      recordDir: '',
      recordBytes: 67_108_864,
      recordMinutes: 30,
      recordKeepMs: 604_800_000,
      refreshMs: 30_000,
    },
    archive: {
      url: '',
      database: 'porthole',
      user: 'default',
      passwordFile: '',
      reader: '',
      readerPasswordFile: '',
      caFile: '',
      cluster: '',
      keepMs: 90 * 86_400_000,
      ship: true,
      intervalMs: 1000,
      maxLagMs: 300_000,
    },
    ship: {
      otlp: '',
      otlpEncoding: 'protobuf',
      otlpCompression: 'gzip',
      otlpHeadersFile: '',
      otlpCaFile: '',
      otlpCertFile: '',
      otlpKeyFile: '',
      otlpService: '',
      otlpTimeoutMs: 10_000,
      otlpBatchBytes: 1024 ** 2,
      otlpIntervalMs: 1000,
      otlpMaxLagMs: 300_000,
    },
    bundle: { maxBytes: 256 * 1024 ** 2, timeoutMs: 600_000 },
    config: { secretKeys: [], maxBytes: 1_048_576 },
    events: { maxBytes: 16_777_216, logs: true, lookbackMs: 3_600_000 },
    notify: { webhook: [] },
  });
});

test('a flag wins over the environment, the environment over the file, a program over all', async () => {
  const file = '[http]\nport = 1001\n';
  const env = { PORTHOLE_HTTP_PORT: '1002' };
  const flags = { 'http.port': '1003' };
  const options = { http: { port: 1004 } };
  const loads = [
    await dir.loadText(file),
    await dir.loadText(file, { env }),
    await dir.loadText(file, { env, flags }),
    await dir.loadText(file, { env, flags, options }),
  ];
  expect(loads.map(({ settings }) => settings.http.port)).toEqual([1001, 1002, 1003, 1004]);
  expect(loads.map((loaded) => findSetting(loaded, 'http.port').source)).toEqual(['file', 'env', 'flag', 'option']);
  expect(loads.map((loaded) => findSetting(loaded, 'http.port').origin)).toEqual([
    'porthole.toml',
    'environment PORTHOLE_HTTP_PORT',
    'flag --http-port',
    'option http.port',
  ]);
});

test('each value has its own source, independent of the others', async () => {
  const loaded = await dir.loadText('[http]\nport = 0\nmax-streams = 4\n', {
    env: { PORTHOLE_GRPC_PORT: '0' },
    options: { logging: { gzip: true, level: undefined } },
  });
  expect(findSetting(loaded, 'http.port')).toMatchObject({ value: 0, source: 'file' });
  expect(findSetting(loaded, 'grpc.port')).toMatchObject({ value: 0, source: 'env' });
  expect(findSetting(loaded, 'logging.gzip')).toMatchObject({ value: true, source: 'option' });
  expect(findSetting(loaded, 'logging.level')).toMatchObject({ value: 'info', source: 'default' });
});

test('a value equal to the default keeps the source it was given by', async () => {
  const loaded = await dir.load({ flags: { 'http.port': '7300' } });
  expect(findSetting(loaded, 'http.port')).toMatchObject({ value: 7300, source: 'flag' });
});

test('relative paths count from the file in the file, and from the working directory elsewhere', async () => {
  const conf = await SettingsDir.create();
  await conf.write('[logging]\ndir = "log"\n[service]\nconfig-file = "/etc/db.toml"\n');
  const loaded = await dir.load({
    file: join(conf.path, 'porthole.toml'),
    env: { PORTHOLE_SERVICE_LOG_DIR: 'db/log' },
    flags: { 'auth.token-file': '../tokens' },
  });
  expect(loaded.settings.logging.dir).toBe(join(conf.path, 'log'));
  expect(loaded.settings.service.configFile).toBe('/etc/db.toml');
  expect(loaded.settings.service.logDir).toBe(join(dir.path, 'db/log'));
  expect(loaded.settings.auth.tokenFile).toBe(join(dir.path, '../tokens'));
  await conf.remove();
});

test('the file may be named by the environment, and a given one wins', async () => {
  await dir.write('[http]\nport = 4444\n');
  const loaded = await dir.load({ env: { PORTHOLE_CONFIG: 'porthole.toml' } });
  expect(loaded.settings.http.port).toBe(4444);
  expect(loaded.file).toBe(join(dir.path, 'porthole.toml'));
  const [problem] = await dir.problems({ file: 'other.toml', env: { PORTHOLE_CONFIG: 'porthole.toml' } });
  expect(problem?.message).toBe('other.toml: no such file');
  expect((await dir.load({ env: { PORTHOLE_CONFIG: '' } })).file).toBeNull();
});

test('a file may start with a byte order mark, have CRLF line ends, inline tables and dotted keys, or be empty', async () => {
  const loaded = await dir.loadText('\ufeffgrpc = { port = 9 }\r\nhttp.port = 8\r\n[logging]\r\nlevel = "WARN"\r\n');
  expect(loaded.settings.grpc.port).toBe(9);
  expect(loaded.settings.http.port).toBe(8);
  expect(loaded.settings.logging.level).toBe('warn');
  expect((await dir.loadText('')).settings.http.port).toBe(7300);
});

test('a list flag may repeat and hold commas, a switch needs no value', async () => {
  const { settings } = await dir.load({
    flags: {
      'http.allowed-hosts': ['a,b', 'c'],
      'logging.gzip': true,
      'auth.allow-anonymous': 'no',
      'http.port': ['0'],
    },
  });
  expect(settings.http.allowedHosts).toEqual(['a', 'b', 'c']);
  expect(settings.logging.gzip).toBe(true);
  expect(settings.auth.allowAnonymous).toBe(false);
  expect(settings.http.port).toBe(0);
});

test('an empty flag empties what the file has set, an empty variable does not', async () => {
  const file = '[node]\nhost-name = "seven"\n[http]\nallowed-hosts = ["a"]\n';
  const byEnv = await dir.loadText(file, { env: { PORTHOLE_NODE_HOST_NAME: '', PORTHOLE_HTTP_PORT: '' } });
  expect(byEnv.settings.node.hostName).toBe('seven');
  const byFlag = await dir.loadText(file, { flags: { 'node.host-name': '', 'http.allowed-hosts': '' } });
  expect(byFlag.settings.node.hostName).toBe('');
  expect(byFlag.settings.http.allowedHosts).toEqual([]);
});

test('unknown variables are ignored, those close to ours with a warning', async () => {
  const loaded = await dir.load({
    env: {
      PORTHOLE_URL: 'http://x',
      PORTHOLE_TOKEN: 't',
      PORTHOLE_CONTEXT: 'prod',
      PORTHOLE_PAGER: 'less',
      PORTHOLE_SERVICE_HOST: '10.0.0.1',
      PORTHOLE_PORT: 'tcp://10.0.0.1:80',
      PORTHOLE_PORT_7300_TCP_ADDR: '10.0.0.1',
      PORTHOLE_HTTP_PROT: '80',
      porthole_grpc_port: '81',
      PATH: '/bin',
      __proto__: 'x',
    },
  });
  expect(loaded.warnings).toEqual([
    'environment PORTHOLE_HTTP_PROT is not a setting - did you mean PORTHOLE_HTTP_PORT?',
    'environment porthole_grpc_port is not a setting - did you mean PORTHOLE_GRPC_PORT?',
  ]);
  expect(loaded.settings.http.port).toBe(7300);
});

test('the port variables Kubernetes makes for a service of that name are ignored with a warning', async () => {
  const loaded = await dir.load({ env: { PORTHOLE_HTTP_PORT: 'tcp://10.0.0.1:80' } });
  expect(loaded.settings.http.port).toBe(7300);
  expect(loaded.warnings).toEqual([
    'environment PORTHOLE_HTTP_PORT: "tcp://10.0.0.1:80" was set by Kubernetes and is ignored',
  ]);
});

test('two loads share no lists', async () => {
  const first = await dir.load();
  first.settings.http.allowedHosts.push('evil');
  expect((await dir.load()).settings.http.allowedHosts).toEqual([]);
});
