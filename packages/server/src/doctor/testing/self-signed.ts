import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** A certificate for these names with its key, valid for two days unless said otherwise. */
export function selfSigned(
  dir: string,
  {
    names = 'DNS:localhost,IP:127.0.0.1',
    days = 2,
    name = 'node',
  }: { names?: string; days?: number; name?: string } = {},
): { certFile: string; keyFile: string } {
  const [certFile, keyFile] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
  const subject = ['-subj', '/CN=test', '-addext', `subjectAltName=${names}`];
  // programs: openssl
  execFileSync('openssl', ['req', '-x509', ...key, '-days', String(days), ...subject, '-out', certFile], {
    stdio: 'ignore',
  });
  return { certFile, keyFile };
}
