import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startClickHouse, type TestClickHouse } from '../testing/server.ts';

/** A server that is known to `ca.crt`, and to nobody else. */
function makeCertificates(dir: string): void {
  // programs: openssl
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' });
  const newKey = (name: string) => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', name];
  for (const name of ['ca', 'other'])
    openssl('req', '-x509', ...newKey(`${name}.key`), '-subj', `/CN=${name}`, '-days', '2', '-out', `${name}.crt`);
  writeFileSync(join(dir, 'names'), 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n');
  openssl('req', ...newKey('server.key'), '-subj', '/CN=server', '-out', 'server.csr');
  const authority = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'];
  openssl('x509', '-req', ...authority, '-in', 'server.csr', '-extfile', 'names', '-days', '2', '-out', 'server.crt');
}

const dir = mkdtempSync(join(tmpdir(), 'porthole-archive-tls-'));
let server: TestClickHouse;

beforeAll(async () => {
  makeCertificates(dir);
  const tls = { certFile: join(dir, 'server.crt'), keyFile: join(dir, 'server.key') };
  server = await startClickHouse({ users: { writer: { password: 'right' } }, tls });
});

afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true });
});

function connect(caFile?: string) {
  const passwordFile = join(dir, 'password');
  writeFileSync(passwordFile, 'right\n');
  const url = `https://127.0.0.1:${server.ports.https}`;
  return server.connect({ url, user: 'writer', passwordFile, ...(caFile !== undefined && { caFile }) });
}

it('rows are sent and read over TLS, by a user with a password', async () => {
  const clickhouse = connect(join(dir, 'ca.crt'));
  await clickhouse.execute('CREATE TABLE secret (n UInt32) ENGINE = Memory');
  await clickhouse.insert('INSERT INTO secret FORMAT JSONEachRow', { body: Buffer.from('{"n":7}\n') });
  expect(await clickhouse.query('SELECT n, currentDatabase() AS db FROM secret')).toEqual([{ n: 7, db: 'default' }]);
  clickhouse.close();
});

it.each([
  ['the certificate of another authority', 'other.crt'],
  ['no authority but those of the system', undefined],
  ['a missing CA file', 'missing.crt'],
])('%s is refused before anything is sent', async (_what, ca) => {
  const clickhouse = connect(ca === undefined ? undefined : join(dir, ca));
  const message = expect.stringMatching(/cannot trust https:|cannot read the CA file/) as string;
  await expect(clickhouse.query('SELECT 1 AS n')).rejects.toMatchObject({ code: 'ARCHIVE_DENIED', message });
  clickhouse.close();
});
