import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  certFile: string;
  keyFile: string;
  cert: Buffer;
  key: Buffer;
}

interface CertificateOptions {
  subject?: string;
  names?: string;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** An authority that signs itself. */
export function createAuthority(dir: string, name = 'ca'): Certificate {
  return createCertificate(dir, name, ['-days', '2', '-subj', `/CN=${name}`]);
}

/** A certificate that an authority has signed. */
export function issue(
  { certFile, keyFile }: Certificate,
  dir: string,
  name: string,
  { subject = `/CN=${name}`, names }: CertificateOptions = {},
): Certificate {
  const signed = ['-CA', certFile, '-CAkey', keyFile, '-days', '2', '-subj', subject];
  const leaf = ['-addext', 'basicConstraints=critical,CA:FALSE'];
  return createCertificate(dir, name, [...signed, ...leaf, ...(names ? ['-addext', `subjectAltName=${names}`] : [])]);
}

/** One that has ended a day ago. Only this command of openssl makes such a thing. */
export function issueExpired({ certFile, keyFile }: Certificate, dir: string, name: string): Certificate {
  const own = [join(dir, `${name}.csr`), join(dir, `${name}.crt`), join(dir, `${name}.key`)] as const;
  const [request, ownCert, ownKey] = own;
  run(['req', '-new', ...NEW_KEY, '-subj', `/CN=${name}`, '-keyout', ownKey, '-out', request]);
  run(['x509', '-req', '-in', request, '-CA', certFile, '-CAkey', keyFile, '-days', '-1', '-out', ownCert]);
  return { certFile: ownCert, keyFile: ownKey, cert: readFileSync(ownCert), key: readFileSync(ownKey) };
}

/** For a node on this machine. */
export function issueForNode(authority: Certificate, dir: string, name = 'node'): Certificate {
  return issue(authority, dir, name, { names: 'DNS:localhost,IP:127.0.0.1' });
}

function createCertificate(dir: string, name: string, options: readonly string[]): Certificate {
  const [certFile, keyFile] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)];
  run(['req', '-x509', ...NEW_KEY, ...options, '-keyout', keyFile, '-out', certFile]);
  return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
}

function run(args: readonly string[]): void {
  // programs: openssl
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** One that ends at this time, to the second. */
export function issueUntil(authority: Certificate, dir: string, name: string, endMs: number): Certificate {
  const [request, ownCert, ownKey] = [join(dir, `${name}.csr`), join(dir, `${name}.crt`), join(dir, `${name}.key`)];
  run(['req', '-new', ...NEW_KEY, '-subj', `/CN=${name}`, '-keyout', ownKey, '-out', request]);
  const times = ['-startdate', formatTime(Date.now() - 60_000), '-enddate', formatTime(endMs)];
  run(['ca', '-batch', '-notext', '-config', caConfig(authority, dir), ...times, '-in', request, '-out', ownCert]);
  return { certFile: ownCert, keyFile: ownKey, cert: readFileSync(ownCert), key: readFileSync(ownKey) };
}

/** The revocation list of an authority with these certificates on it. */
export function revocationList(authority: Certificate, dir: string, revoked: readonly Certificate[]): Buffer {
  const config = caConfig(authority, dir);
  const [ends, since] = [formatTime(Date.now() + 86_400_000), formatTime(Date.now() - 60_000)].map((text) =>
    text.slice(2),
  );
  const lines = revoked.map(({ cert }) => {
    const { serialNumber } = new X509Certificate(cert);
    return ['R', ends, since, serialNumber, 'unknown', '/CN=revoked'].join('\t');
  });
  writeFileSync(join(dir, 'index.txt'), lines.map((line) => `${line}\n`).join(''));
  run(['ca', '-gencrl', '-config', config, '-out', join(dir, 'list.pem')]);
  return readFileSync(join(dir, 'list.pem'));
}

/** What `openssl ca` needs: these two commands have no other way. */
function caConfig({ certFile, keyFile }: Certificate, dir: string): string {
  const path = join(dir, 'ca.cnf');
  writeFileSync(join(dir, 'index.txt'), '');
  writeFileSync(join(dir, 'index.txt.attr'), 'unique_subject = no\n');
  const policy = '[any]\ncommonName = supplied\n';
  const files = `database = ${join(dir, 'index.txt')}\nnew_certs_dir = ${dir}\ncertificate = ${certFile}\nprivate_key = ${keyFile}\n`;
  writeFileSync(
    path,
    `[ca]\ndefault_ca = own\n[own]\n${files}rand_serial = yes\ndefault_md = sha256\ndefault_crl_days = 1\npolicy = any\n${policy}`,
  );
  return path;
}

/** As openssl reads it: 20261115050000Z. */
function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
}
