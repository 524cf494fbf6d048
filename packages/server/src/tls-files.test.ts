import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { startNode } from './start-node.ts';
import { startTestNode, testSettings } from './testing/test-node.ts';

interface Pair {
  certFile: string;
  keyFile: string;
}

function selfSigned(dir: string, name: string): Pair {
  const [certFile, keyFile] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const files = ['-keyout', keyFile, '-out', certFile];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      ...subject,
      ...files,
    ],
    { stdio: 'ignore' },
  );
  return { certFile, keyFile };
}

function requestOverTls(url: string, ca: Buffer): Promise<{ status: number; body: string; protocol: string | null }> {
  return new Promise((resolve, reject) => {
    get(url, { ca, agent: false }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      const { socket } = response as unknown as { socket: { getProtocol?(): string | null } };
      resolve({
        status: response.statusCode ?? 0,
        body: Buffer.concat(parts).toString(),
        protocol: socket.getProtocol?.() ?? null,
      });
    }).once('error', reject);
  });
}

function startWith(tls: Pair) {
  return startNode({ settings: testSettings(tempDir(), { tls }) });
}

describe('a node with a certificate', () => {
  it('responds over HTTPS, whole files too', async () => {
    const tls = selfSigned(tempDir(), 'node');
    const text = 'a line of a log\n'.repeat(200_000);
    const { running } = await startTestNode({ files: { 'a.log': text }, settings: { tls } });
    expect(running.url).toMatch(/^https:/);
    const ca = readFileSync(tls.certFile);
    const { status, body } = await requestOverTls(`${running.url}api/v1/log/view?file=a.log&size=9999999`, ca);
    expect({ status, same: body === text }).toEqual({ status: 200, same: true });
  });

  it('does not respond over plain HTTP', async () => {
    const { running } = await startTestNode({ settings: { tls: selfSigned(tempDir(), 'node') } });
    await expect(fetch(running.url.replace('https', 'http'))).rejects.toThrow('fetch failed');
  });
});

describe('a certificate that cannot be used', () => {
  it('is refused with its key when they are no pair', async () => {
    const dir = tempDir();
    const [one, other] = [selfSigned(dir, 'one'), selfSigned(dir, 'other')];
    await expect(startWith({ certFile: one.certFile, keyFile: other.keyFile })).rejects.toThrow(
      /tls\.cert-file .*one\.crt and tls\.key-file .*other\.key cannot be used together/,
    );
  });

  it('is refused when it is invalid, without revealing anything of the key', async () => {
    const dir = tempDir();
    const { keyFile } = selfSigned(dir, 'one');
    const certFile = join(dir, 'nonsense.crt');
    writeFileSync(certFile, 'nonsense');
    await expect(startWith({ certFile, keyFile })).rejects.toThrow('cannot be used together');
    const [secret = ''] = readFileSync(keyFile, 'utf8').split('\n').slice(1);
    await expect(startWith({ certFile, keyFile })).rejects.not.toThrow(secret);
  });

  it('is refused when it is missing, by the name of the setting', async () => {
    const dir = tempDir();
    const { keyFile, certFile } = selfSigned(dir, 'one');
    await expect(startWith({ certFile: join(dir, 'absent'), keyFile })).rejects.toThrow(
      /^tls\.cert-file: .*absent cannot be read: ENOENT/,
    );
    await expect(startWith({ certFile, keyFile: dir })).rejects.toThrow(/^tls\.key-file: .* cannot be read: EISDIR/);
  });
});
