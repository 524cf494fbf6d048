import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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
  return made(dir, name, ['-days', '2', '-subj', `/CN=${name}`]);
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
  return made(dir, name, [...signed, ...leaf, ...(names ? ['-addext', `subjectAltName=${names}`] : [])]);
}

/** One that has ended a day ago. Only this command of openssl makes such a thing. */
export function issueEnded({ certFile, keyFile }: Certificate, dir: string, name: string): Certificate {
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

function made(dir: string, name: string, options: readonly string[]): Certificate {
  const [certFile, keyFile] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)];
  run(['req', '-x509', ...NEW_KEY, ...options, '-keyout', keyFile, '-out', certFile]);
  return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
}

function run(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
