import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { THIS_SYSTEM } from './check-result.ts';
import { CHECKS, checkNodeVersion, runDoctor } from './run-doctor.ts';

const freePorts = { 'http.port': '0', 'grpc.port': '0' };

describe('runDoctor', () => {
  test('finds no problem with default settings, and leaves no files behind', async () => {
    const workDir = tempDir();
    const { findings, skipped } = await runDoctor({ workDir, flags: freePorts });
    expect(findings.filter(({ state }) => state === 'problem')).toEqual([]);
    expect(skipped).toEqual([]);
    expect(readdirSync(workDir)).toEqual([]);
  });

  test('has a remedy for every warning and problem', async () => {
    const flags = { ...freePorts, 'service.log-dir': 'absent', 'auth.token-file': 'absent', 'tls.cert-file': 'absent' };
    const { findings } = await runDoctor({ workDir: tempDir(), flags: { ...flags, 'tls.key-file': 'absent' } });
    const wrong = findings.filter(({ state }) => state !== 'ok');
    expect(wrong.map(({ name }) => name)).toEqual(expect.arrayContaining(['log directory', 'tokens', 'TLS']));
    expect(wrong.filter(({ remedy }) => !remedy)).toEqual([]);
  });

  test('reports invalid settings as serve does, and lists the skipped checks', async () => {
    const workDir = tempDir();
    writeFileSync(join(workDir, 'porthole.toml'), '[http]\nprot = 80\nhost = "0.0.0.0"\n');
    const { findings, skipped } = await runDoctor({ workDir, file: 'porthole.toml' });
    expect(findings.slice(1)).toEqual([
      {
        name: 'settings',
        state: 'problem',
        detail: 'porthole.toml:2: unknown key "http.prot" - did you mean "http.port"?',
        remedy: 'correct the name, or remove the line; docs/settings.md lists all settings',
      },
      {
        name: 'settings',
        state: 'problem',
        detail: expect.stringMatching(/^porthole\.toml:3: http\.host "0\.0\.0\.0" serves other machines/),
        remedy: 'change one of the settings named',
      },
    ]);
    expect(skipped).toEqual(CHECKS.map(({ name }) => name));
  });

  test.each([
    ['absent.toml', undefined, /absent\.toml/],
    ['broken.toml', '[http\n', /broken\.toml:1/],
  ])('reports the unusable settings file %s', async (file, text, detail) => {
    const workDir = tempDir();
    if (text !== undefined) writeFileSync(join(workDir, file), text);
    const { findings } = await runDoctor({ workDir, file });
    expect(findings.at(-1)).toMatchObject({
      name: 'settings',
      state: 'problem',
      detail: expect.stringMatching(detail),
    });
  });

  test('reports a valid settings file, and misspelt environment variables', async () => {
    const workDir = tempDir();
    writeFileSync(join(workDir, 'porthole.toml'), '[logging]\nlevel = "debug"\n');
    const env = { PORTHOLE_HTTP_PROT: '80' };
    const { findings } = await runDoctor({ workDir, file: 'porthole.toml', flags: freePorts, env });
    const reported = findings.filter(({ name }) => name === 'settings');
    expect(reported[0]).toMatchObject({
      state: 'ok',
      detail: expect.stringMatching(/porthole\.toml is valid, 3 of \d+/),
    });
    expect(reported[1]).toMatchObject({ state: 'warning', detail: expect.stringContaining('PORTHOLE_HTTP_PROT') });
  });
});

test.each([
  ['18.20.4', 'problem'],
  ['20.18.3', 'problem'],
  ['20.19.0', 'warning'],
  ['22.1.0', 'ok'],
  ['24.11.1', 'ok'],
] as const)('Node.js %s is %s', (nodeVersion, state) => {
  expect(checkNodeVersion({ ...THIS_SYSTEM, nodeVersion }).state).toBe(state);
});
