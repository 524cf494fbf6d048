import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const view = async (port: number) => (await sendRequest(port, '/api/v1/log/view?file=a.log')).body.toString();

describe('secrets in log text', () => {
  it("are those of the service's configuration: secret keys, passwords in URLs, commented-out ones", async () => {
    const configFile = join(tempDir(), 'service.toml');
    const config = [
      'password = "hunter2-hunter2"',
      'endpoint = "http://root:s3cret%2Fpw@db:2379"',
      '# token = "an-older-token"',
      'name = "broker-of-berlin"',
    ];
    writeFileSync(configFile, config.join('\n'));
    const text = 'hunter2-hunter2 s3cret%2Fpw s3cret/pw an-older-token broker-of-berlin\n';
    const { port } = await startTestNode({ settings: { service: { configFile } }, files: { 'a.log': text } });
    const masked = text.replace(/hunter\S+|s3cret\S+|an-older-token/g, (secret) => '*'.repeat(secret.length));
    expect(await view(port)).toBe(masked);
  });

  it('are those of the settings and of the files they name', async () => {
    const tokenFile = join(tempDir(), 'token');
    writeFileSync(tokenFile, 'token-of-the-cluster\n');
    const { port } = await startTestNode({
      settings: { cluster: { tokenFile } },
      files: { 'a.log': 'asked with token-of-the-cluster\n' },
    });
    expect(await view(port)).toBe('asked with ********************\n');
  });

  it.each([
    ['archive.password-file', (path: string) => ({ archive: { passwordFile: path } })],
    ['archive.reader-password-file', (path: string) => ({ archive: { reader: 'dash', readerPasswordFile: path } })],
    [
      'the secret-file of a webhook',
      (path: string) => ({
        notify: { webhook: [JSON.stringify({ name: 'ops', url: 'http://127.0.0.1:9/', 'secret-file': path })] },
      }),
    ],
  ])('are those of %s', async (_, settings) => {
    const path = join(tempDir(), 'secret');
    writeFileSync(path, 'secret-of-this-file\n');
    const { port } = await startTestNode({
      settings: settings(path),
      files: { 'a.log': 'it is secret-of-this-file\n' },
    });
    expect(await view(port)).toBe('it is *******************\n');
  });

  it('are those of an embedding service', async () => {
    const config = () => 'api-key = "key-of-the-service"\n';
    const { port } = await startTestNode({ config, files: { 'a.log': 'key-of-the-service\n' } });
    expect(await view(port)).toBe('******************\n');
  });

  it('are masked without a restart when the configuration has changed, and the old ones still are', async () => {
    const configFile = join(tempDir(), 'service.toml');
    writeFileSync(configFile, 'password = "password-one"');
    const text = 'password-one password-two\n';
    const { port } = await startTestNode({ settings: { service: { configFile } }, files: { 'a.log': text } });
    expect(await view(port)).toBe('************ password-two\n');
    writeFileSync(configFile, 'password = "password-two"');
    await eventually(async () => expect(await view(port)).toBe('************ ************\n'));
  });

  it('stay masked while the configuration cannot be read', async () => {
    const configFile = join(tempDir(), 'service.toml');
    writeFileSync(configFile, 'password = "password-one"');
    const { port, running } = await startTestNode({
      settings: { service: { configFile } },
      files: { 'a.log': 'password-one\n' },
    });
    writeFileSync(configFile, 'password = ');
    await running.reload();
    expect(await view(port)).toBe('************\n');
  });

  it('that are too short are named by their keys in the own log, never by their values', async () => {
    const configFile = join(tempDir(), 'service.toml');
    writeFileSync(configFile, 'password = "pw1"\n[user]\ntoken = "default"\nsecret = "long-enough"\n');
    const { dir } = await startTestNode({ settings: { service: { configFile } } });
    await eventually(() => {
      const log = readFileSync(join(dir, 'own', 'porthole.log'), 'utf8');
      const line = log.split('\n').find((text) => text.includes('too short')) ?? '';
      expect(line).toContain('user.token');
      expect(line).toContain('"password"');
      expect(line).not.toMatch(/pw1|user\.secret/);
    });
  });

  it('are shown where the setting says so', async () => {
    const configFile = join(tempDir(), 'service.toml');
    writeFileSync(configFile, 'password = "password-one"');
    const settings = { service: { configFile }, logs: { scrub: false, scrubPatterns: ['jwt'] } };
    const text = `password-one eyJ${'a'.repeat(40)}\n`;
    const { port } = await startTestNode({ settings, files: { 'a.log': text } });
    expect(await view(port)).toBe(text);
  });

  it('of kinds that are known by their looks are masked where the setting names them', async () => {
    const token = `eyJ${'a'.repeat(40)}.eyJ${'b'.repeat(40)}.c-_`;
    const { port } = await startTestNode({
      settings: { logs: { scrubPatterns: ['jwt'] } },
      files: { 'a.log': `with ${token} in it\n` },
    });
    expect(await view(port)).toBe(`with ${'*'.repeat(token.length)} in it\n`);
  });
});
