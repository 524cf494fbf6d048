import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SettingsError } from './settings-error.ts';
import { SettingsDir } from './testing/settings-dir.ts';

let dir: SettingsDir;
beforeAll(async () => {
  dir = await SettingsDir.create();
});
afterAll(() => dir.remove());

describe('in the file', () => {
  test.each([
    ['[http]\n\nprot = 1', 'porthole.toml:3: unknown key "http.prot" - did you mean "http.port"?'],
    ['[http]\nlevel = "info"', 'porthole.toml:2: unknown key "http.level" - did you mean "logging.level"?'],
    ['[http]\nlevle = "info"', 'porthole.toml:2: unknown key "http.levle" - did you mean "logging.level"?'],
    ['[http]\nmax_streams = 1', 'porthole.toml:2: unknown key "http.max_streams" - did you mean "http.max-streams"?'],
    ['[http]\nmaxStreams = 1', 'porthole.toml:2: unknown key "http.maxStreams" - did you mean "http.max-streams"?'],
    [
      '[http]\nstallTimeoutMs = 1',
      'porthole.toml:2: unknown key "http.stallTimeoutMs" - did you mean "http.stall-timeout"?',
    ],
    ['port = 1', 'porthole.toml:1: unknown key "port" - did you mean "http.port" or "grpc.port"?'],
    ['"http.port" = 1', `porthole.toml:1: unknown key "'http.port'" - did you mean "http.port"?`],
    ['grpcPort = 1', 'porthole.toml:1: unknown key "grpcPort" - did you mean "grpc.port"?'],
    ['[http]\nzzz = 1', 'porthole.toml:2: unknown key "http.zzz"'],
    ['[htpp]\nport = 1', 'porthole.toml:1: unknown table "htpp" - did you mean "http"?'],
    ['\n[database.pool]\nsize = 1', 'porthole.toml:2: unknown table "database"'],
    ['http.tls.cert = "x"', 'porthole.toml:1: unknown key "http.tls"'],
    ['http = 5', 'porthole.toml:1: http: expected a table, found an integer 5'],
    ['[[http]]\nport = 1', 'porthole.toml:1: http: expected a table, found a list'],
    ['[http]\n\nport = "x"', 'porthole.toml:3: http.port: expected a port, found a string "x"'],
    ['http = { port = 7300.0 }', 'porthole.toml:1: http.port: expected a port, found a float 7300'],
    ['http.port = 70000', 'porthole.toml:1: http.port: 70000 is not a port (0 to 65535)'],
    ['[http.port]\nx = 1', 'porthole.toml:1: http.port: expected a port, found a table'],
    ['http.port = 2024-01-01', 'porthole.toml:1: http.port: expected a port, found a date'],
    [
      'http.stall-timeout = 30',
      'porthole.toml:1: http.stall-timeout: expected a duration like "30s", found an integer 30',
    ],
    [
      'http.stall-timeout = "30"',
      'porthole.toml:1: http.stall-timeout: "30" is not a duration like "30s" (units ms, s, m, h, d, w; 10ms to 1d)',
    ],
    [
      'logging.max-file-size = "1EB"',
      'porthole.toml:1: logging.max-file-size: "1EB" is not a size like "64MiB" (units B, KB, KiB, MB, MiB, GB, GiB, TB, TiB; 1KiB to 1TiB)',
    ],
    ['http.cors-origins = "*"', 'porthole.toml:1: http.cors-origins: expected a list of origins, found a string "*"'],
    [
      'http.cors-origins = ["*", "x"]',
      'porthole.toml:1: http.cors-origins: "x" is not an origin (like "https://ops.example.org", without a path, or "*")',
    ],
    ['http.cors-origins = [1]', 'porthole.toml:1: http.cors-origins: expected an origin, found an integer 1'],
    [
      'logging.level = "trace"',
      'porthole.toml:1: logging.level: "trace" is not a choice (one of "debug", "info", "warn", "error")',
    ],
    ['logging.gzip = "yes"', 'porthole.toml:1: logging.gzip: expected a boolean, found a string "yes"'],
    [
      'node.time-zone = "Mars/X"',
      'porthole.toml:1: node.time-zone: "Mars/X" is not a time zone (an IANA name like "Europe/Berlin", or "")',
    ],
    [
      '[http]\nport = 1\nport = 2',
      'porthole.toml:3:1: not valid TOML: trying to redefine an already defined table or value',
    ],
    ['[http]\nport = ', 'porthole.toml:2:8: not valid TOML: invalid value'],
    ['[auth]\ntoken = "hunter2', 'porthole.toml:2:9: not valid TOML: unfinished string'],
  ])('%j is reported as %s', async (text, message) => {
    expect(await dir.messages(text)).toEqual([message]);
  });

  test('text that is not UTF-8 is reported', async () => {
    expect(await dir.messages(new Uint8Array([0x23, 0xff, 0xfe]))).toEqual(['porthole.toml: is not UTF-8 text']);
  });

  test('problems carry code, file and line', async () => {
    await dir.write('\nprot = 1');
    expect(await dir.problems({ file: 'porthole.toml' })).toEqual([
      {
        code: 'UNKNOWN_KEY',
        source: 'file',
        file: 'porthole.toml',
        line: 2,
        message: 'porthole.toml:2: unknown key "prot" - did you mean "http.port" or "grpc.port"?',
      },
    ]);
  });
});

describe('the file itself', () => {
  test('is missing', async () => {
    expect(await dir.problems({ file: 'no.toml' })).toEqual([
      { code: 'FILE_MISSING', source: 'file', file: 'no.toml', message: 'no.toml: no such file' },
    ]);
  });
  test('is a directory', async () => {
    await mkdir(join(dir.path, 'conf.d'));
    expect(await dir.problems({ file: 'conf.d' })).toMatchObject([
      { code: 'FILE_UNREADABLE', message: 'conf.d: is a directory, not a file' },
    ]);
  });
  test('is a FIFO without a writer', async () => {
    execFileSync('mkfifo', [join(dir.path, 'pipe')]);
    expect(await dir.problems({ file: 'pipe' })).toMatchObject([{ message: 'pipe: is not a regular file' }]);
  });
  test('is too large', async () => {
    expect(await dir.messages(`#${'x'.repeat(262_144)}`)).toEqual([
      'porthole.toml: is too large for a settings file (262145 of 262144 bytes)',
    ]);
  });
  test('has a name no file can have', async () => {
    const [problem] = await dir.problems({ file: 'a\u0000b' });
    expect(problem?.message).toBe('a\\u{0}b: cannot be read (ERR_INVALID_ARG_VALUE)');
  });
});

describe('in the environment, the flags and the options', () => {
  test('a variable', async () => {
    expect(await dir.problems({ env: { PORTHOLE_HTTP_PORT: 'abc' } })).toEqual([
      {
        code: 'BAD_VALUE',
        source: 'env',
        message: 'environment PORTHOLE_HTTP_PORT: "abc" is not a port (0 to 65535)',
      },
    ]);
  });

  test.each([
    [{ 'http.port': 'abc' }, 'flag --http-port: "abc" is not a port (0 to 65535)'],
    [{ 'http.port': '' }, 'flag --http-port: "" is not a port (0 to 65535)'],
    [{ 'http.port': true }, 'flag --http-port: needs a value'],
    [{ 'http.port': [] }, 'flag --http-port: needs a value'],
    [{ 'http.port': ['1', '2'] }, 'flag --http-port: given 2 times, but takes one value'],
    [{ 'logging.level': 'loud' }, 'flag --log-level: "loud" is not a choice (one of "debug", "info", "warn", "error")'],
    [{ 'http.prot': '1' }, 'flag http.prot: unknown setting "http.prot" - did you mean "http.port"?'],
  ])('the flag %j', async (flags, message) => {
    expect((await dir.problems({ flags })).map((problem) => problem.message)).toEqual([message]);
  });

  test.each([
    [{ http: { port: 'x' } }, 'option http.port: expected a port, found a string "x"'],
    [{ http: { port: 70_000 } }, 'option http.port: 70000 is not a port (0 to 65535)'],
    [{ http: { port: 1.5 } }, 'option http.port: 1.5 is not a port (0 to 65535)'],
    [{ node: { hostName: 7 } }, 'option node.hostName: expected a string, found an integer 7'],
    [{ http: { prot: 1 } }, 'option http.prot: unknown setting - did you mean "http.port"?'],
    [{ http: { 'max-streams': 1 } }, 'option http.max-streams: unknown setting - did you mean "http.maxStreams"?'],
    [{ htpp: { port: 1 } }, 'option htpp: unknown section - did you mean "http"?'],
    [{ http: null }, 'option http: expected an object, found null'],
    [{ http: 5 }, 'option http: expected an object, found an integer 5'],
  ])('the option %j', async (options, message) => {
    const loose: object = options;
    expect((await dir.problems({ options: loose })).map((problem) => problem.message)).toEqual([message]);
  });
});

describe('values impossible together', () => {
  const NO_CREDENTIALS =
    'http.host "0.0.0.0" serves other machines, but no credentials are set up - set auth.token-file to ask for tokens, or auth.allow-anonymous to serve everyone';

  test.each([
    ['[tls]\ncert-file = "c.pem"', 'porthole.toml:2: tls.cert-file is set but tls.key-file is not - set both or none'],
    ['[tls]\nkey-file = "k.pem"', 'porthole.toml:2: tls.key-file is set but tls.cert-file is not - set both or none'],
    [
      '\nhttp.port = 7301',
      'porthole.toml:2: http.port and grpc.port are both 7301 - set them to different ports, or to 0 for any free port',
    ],
    ['[http]\nhost = "0.0.0.0"', `porthole.toml:2: ${NO_CREDENTIALS}`],
    [
      'http.max-url-bytes = "32KiB"',
      'porthole.toml:1: http.max-url-bytes is above http.max-header-bytes, which counts the URL too - raise http.max-header-bytes as well',
    ],
    [
      '[cluster]\nmembers = ["http://a:1"]\netcd = ["http://e:1"]',
      'porthole.toml:2: cluster.members and cluster.etcd both say who the members are - set one of them',
    ],
    [
      '[cluster]\nmembers = ["http://a:1"]\nlindb-namespace = "/lindb-cluster"',
      'porthole.toml:3: cluster.lindb-namespace is a namespace in etcd, but cluster.etcd is empty - set cluster.etcd as well',
    ],
    [
      '[cluster]\netcd-user = "porthole"',
      'porthole.toml:2: cluster.etcd-user is set but cluster.etcd-password-file is not - set both or none',
    ],
    [
      '[cluster]\netcd-password-file = "p"',
      'porthole.toml:2: cluster.etcd-password-file is set but cluster.etcd-user is not - set both or none',
    ],
    [
      '[cluster]\netcd-cert-file = "c"',
      'porthole.toml:2: cluster.etcd-cert-file is set but cluster.etcd-key-file is not - set both or none',
    ],
    [
      '[cluster]\netcd-key-file = "k"',
      'porthole.toml:2: cluster.etcd-key-file is set but cluster.etcd-cert-file is not - set both or none',
    ],
  ])('%j is reported as %s', async (text, message) => {
    expect(await dir.messages(text)).toEqual([message]);
  });

  test('are reported at the source of the highest precedence', async () => {
    const problems = await dir.problems({ env: { PORTHOLE_HTTP_PORT: '9' }, flags: { 'grpc.port': '9' } });
    expect(problems).toMatchObject([{ code: 'CONFLICT', source: 'flag' }]);
    expect(problems[0]?.message).toMatch(/^flag --grpc-port: http\.port and grpc\.port are both 9/);
    const [bind] = await dir.problems({ flags: { 'http.host': '0.0.0.0' } });
    expect(bind?.message).toBe(`flag --http-host: ${NO_CREDENTIALS}`);
  });

  test.each([
    { http: { port: 0 }, grpc: { port: 0 } },
    { http: { host: '0.0.0.0' }, auth: { tokenFile: 'tokens' } },
    { http: { host: '::' }, auth: { allowAnonymous: true } },
    { http: { host: '::1' } },
    { tls: { certFile: 'c', keyFile: 'k' } },
    { cluster: { members: ['http://a:1', 'b=https://b:1'] } },
    { cluster: { etcd: ['http://e:1'], lindbNamespace: '/lindb-cluster', etcdUser: 'u', etcdPasswordFile: 'p' } },
    { cluster: { etcd: ['https://e:1'], etcdCertFile: 'c', etcdKeyFile: 'k', etcdCaFile: 'ca' } },
  ])('do not include %j', async (options) => {
    await expect(dir.load({ options })).resolves.toBeDefined();
  });

  test('are not guessed from a value that was refused itself', async () => {
    const messages = await dir.messages('[http]\nhost = "0.0.0.0"\n[auth]\ntoken-file = 5\n');
    expect(messages).toEqual(['porthole.toml:4: auth.token-file: expected a path, found an integer 5']);
  });
});

test('all problems of all sources are reported at once, those of the file by line', async () => {
  await dir.write('[logging]\nlevel = 1\n[http]\nprot = 1\n[tls]\nkey-file = "k"\n[logging.x]\n');
  const sources = {
    file: 'porthole.toml',
    env: { PORTHOLE_GRPC_PORT: 'x' },
    flags: { 'http.max-streams': '0' },
    options: { http: { port: -1 } },
  };
  await expect(dir.load(sources)).rejects.toThrow(SettingsError);
  expect((await dir.problems(sources)).map(({ message }) => message)).toEqual([
    'porthole.toml:2: logging.level: expected a choice, found an integer 1',
    'porthole.toml:4: unknown key "http.prot" - did you mean "http.port"?',
    'porthole.toml:6: tls.key-file is set but tls.cert-file is not - set both or none',
    'porthole.toml:7: unknown key "logging.x"',
    'environment PORTHOLE_GRPC_PORT: "x" is not a port (0 to 65535)',
    'flag --http-max-streams: "0" is not a whole number (1 to 100000)',
    'option http.port: -1 is not a port (0 to 65535)',
  ]);
});

test('the text of the error has one line per problem and does not grow without end', async () => {
  await dir.write(Array.from({ length: 3000 }, (_, index) => `key${index} = 1`).join('\n'));
  const error = await dir.load({ file: 'porthole.toml' }).catch((thrown: unknown) => thrown);
  if (!(error instanceof SettingsError)) throw new Error('accepted');
  expect(error.problems).toHaveLength(3000);
  expect(error.message.split('\n')).toHaveLength(51);
  expect(error.message).toMatch(/\n\.\.\. and 2950 more$/);
});
