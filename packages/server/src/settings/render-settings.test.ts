import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderSettings } from './describe-settings.ts';
import type { SettingKind, SettingScalar } from './setting-kinds.ts';
import { type PartialSettings, SETTING_DEFINITIONS } from './settings.ts';
import { showText } from './show-value.ts';
import { SettingsDir } from './testing/settings-dir.ts';

let dir: SettingsDir;
beforeAll(async () => {
  dir = await SettingsDir.create();
});
afterAll(() => dir.remove());

test('each key is explained with its meaning, default, variable and source', async () => {
  await dir.write('[http]\nport = 8080\n');
  const loaded = await dir.load({ file: 'porthole.toml', env: { PORTHOLE_HTTP_STALL_TIMEOUT: '90s' } });
  const rendered = renderSettings(loaded);
  expect(rendered).toContain(
    `# The settings this node runs with.\n# Settings file: ${showText(`${dir.path}/porthole.toml`)}\n\n[node]\n# Address at which others`,
  );
  expect(rendered).toContain(
    '# HTTP port. 0: any free port.\n# Default: 7300. Environment: PORTHOLE_HTTP_PORT.\n# Set by file porthole.toml.\nport = 8080\n',
  );
  expect(rendered).toContain(
    '# A client that reads nothing for this long is disconnected.\n# Default: "30s". Environment: PORTHOLE_HTTP_STALL_TIMEOUT.\n# Set by environment PORTHOLE_HTTP_STALL_TIMEOUT.\nstall-timeout = "90s"\n',
  );
  expect(rendered).toContain(
    '# gRPC port, on the address of `http.host`. 0: any free port.\n# Default: 7301. Environment: PORTHOLE_GRPC_PORT.\nport = 7301\n',
  );
});

test('a file name with a line break stays within its comment', async () => {
  const loaded = await dir.load();
  const rendered = renderSettings({ ...loaded, file: '/etc/a\n[evil]\nx = 1' });
  expect(parse(rendered)).not.toHaveProperty('evil');
});

/** Anything of the right type, valid or not; the kind itself picks the valid ones. */
function anyValue(kind: SettingKind, byDefault: SettingScalar): fc.Arbitrary<SettingScalar> {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.domain(),
    fc.ipV4(),
    fc.ipV6(),
    fc.webUrl(),
    fc.constantFrom('UTC', 'Asia/Tokyo', 'debug', 'error', 'C:\\x', '"', "'''", '#', 'a = 1', '*'),
  );
  const number = fc.oneof(
    fc.nat(70_000),
    fc.maxSafeNat(),
    fc.nat(10_000).map((n) => n * 1024),
  );
  const value: Record<string, fc.Arbitrary<SettingScalar>> = {
    string: text,
    number,
    boolean: fc.boolean(),
    object: fc.array(text, { maxLength: 4 }),
  };
  const arbitrary = value[typeof byDefault] ?? text;
  return arbitrary.map((candidate) => {
    const reading = kind.read(candidate, { form: 'option', baseDir: '/base' });
    return 'refused' in reading ? byDefault : reading.value;
  });
}

/** Valid settings that go together. */
function anySettings(): fc.Arbitrary<PartialSettings> {
  const entries = SETTING_DEFINITIONS.map((definition) => anyValue(definition.kind, definition.default));
  return fc.tuple(...entries).map((values) => {
    const options: Record<string, Record<string, SettingScalar>> = {};
    SETTING_DEFINITIONS.forEach(({ section, property }, index) => {
      options[section] = { ...options[section], [property]: values[index] ?? '' };
    });
    const { http, grpc, tls, log } = options;
    if (!log?.journal) Object.assign(log ?? {}, { journalUnits: [] });
    if (http?.port === grpc?.port) Object.assign(options, { grpc: { port: 0 } });
    if ((tls?.certFile === '') !== (tls?.keyFile === '')) Object.assign(options, { tls: {} });
    if (Number(http?.maxUrlBytes) > Number(http?.maxHeaderBytes))
      Object.assign(http ?? {}, { maxHeaderBytes: 1024 ** 2 });
    Object.assign(options.archive ?? {}, { url: '', readerPasswordFile: '' });
    Object.assign(options.ship ?? {}, { otlpCertFile: '', otlpKeyFile: '', otlpHeadersFile: '' });
    const cluster = {
      etcdUser: '',
      etcdPasswordFile: '',
      etcdCertFile: '',
      etcdKeyFile: '',
      lindbNamespace: '',
      certFile: '',
      keyFile: '',
    };
    const known = options.cluster?.members;
    const isInCluster = [known, options.cluster?.etcd].some((list) => Array.isArray(list) && list.length > 0);
    if (isInCluster) Object.assign(http ?? {}, { socket: '' });
    Object.assign(options.cluster ?? {}, cluster, Array.isArray(known) && known.length > 0 && { etcd: [] });
    const auth = {
      allowAnonymous: true,
      jwksUrl: '',
      jwksFile: '',
      jwtRoles: [],
      clientCaFile: '',
      clientCrlFile: '',
      clientRoles: [],
    };
    return { ...options, auth: { ...options.auth, ...auth } };
  });
}

test('what is rendered is valid TOML and loads back to the same settings', async () => {
  await fc.assert(
    fc.asyncProperty(anySettings(), async (options) => {
      const given = await dir.load({ options });
      const rendered = renderSettings(given);
      expect(Object.keys(parse(rendered))).toEqual(Object.keys(given.settings));
      const again = await dir.loadText(rendered);
      expect(again.settings).toEqual(given.settings);
      expect(again.values.every(({ source }) => source === 'file')).toBe(true);
    }),
    { numRuns: runs(50) },
  );
});
