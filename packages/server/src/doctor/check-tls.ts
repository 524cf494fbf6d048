import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { StartError } from '../start-error.ts';
import { CERTIFICATE_BLOCKS, readTlsFiles } from '../tls-files.ts';
import type { CheckContext } from './check-context.ts';
import { type CheckOutcome, ok, problem, warning } from './check-result.ts';

const DAY_MS = 86_400_000;

/** Certificates are renewed a month before their end; one that is later than that was forgotten. */
const SOON_DAYS = 21;

const OTHERS_READ = 0o004;

/** Whether certificate and key fit each other, this machine and this day. */
export async function checkTls({ settings, system }: CheckContext): Promise<CheckOutcome[]> {
  const { certFile, keyFile } = settings.tls;
  if (certFile === '') return [];
  try {
    await readTlsFiles(settings);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return [
      problem(
        error.message,
        error.message.startsWith('auth.')
          ? 'set auth.client-ca-file to the certificates (PEM) of the authorities of clients, readable by the node'
          : 'set tls.cert-file and tls.key-file to a PEM chain and its key, readable by the node',
      ),
    ];
  }
  const certificate = new X509Certificate(await readFile(certFile));
  const outcomes = [checkValidity(certificate, system.nowMs()), ...checkCertificateNames(certificate, settings)];
  outcomes.push(...(await checkClientCa(settings.auth.clientCaFile, system.nowMs())));
  if ((await stat(keyFile)).mode & OTHERS_READ)
    outcomes.push(warning(`everyone on this machine can read ${keyFile}`, `chmod o-r ${keyFile}`));
  return outcomes;
}

/** Who signs the certificates of clients. */
async function checkClientCa(file: string, nowMs: number): Promise<CheckOutcome[]> {
  if (file === '') return [];
  const blocks = (await readFile(file, 'latin1')).match(CERTIFICATE_BLOCKS) ?? [];
  const ended = blocks.map((block) => new X509Certificate(block)).filter(({ validTo }) => Date.parse(validTo) < nowMs);
  const counted = `${file} holds ${blocks.length} ${blocks.length === 1 ? 'authority' : 'authorities'} of clients`;
  if (ended.length === 0) return [ok(counted)];
  return [problem(`${counted}, ${ended.length} of which ended`, 'put the renewed certificate of the authority there')];
}

function checkValidity({ validFrom, validTo }: X509Certificate, nowMs: number): CheckOutcome {
  const days = Math.floor((Date.parse(validTo) - nowMs) / DAY_MS);
  const renew = 'renew the certificate: a node that runs takes the new files by itself';
  if (nowMs < Date.parse(validFrom))
    return problem(`the certificate is not valid before ${validFrom}`, 'check the clock of this machine');
  if (days < 0) return problem(`the certificate ended on ${validTo}`, renew);
  const detail = `key and certificate fit, valid for ${days} more days`;
  return days < SOON_DAYS ? warning(detail, renew) : ok(detail);
}

/** A client checks the name by which it has asked: one of those the node goes by should be in the certificate. */
function checkCertificateNames(certificate: X509Certificate, { node, http }: CheckContext['settings']): CheckOutcome[] {
  const names = certificate.subjectAltName ?? certificate.subject.replaceAll('\n', ', ');
  const known = [node.hostName || hostname(), node.hostIp, http.host].filter((name) => name !== '');
  const isNamed = known.some((name) => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)));
  if (isNamed) return [ok(`the certificate is for ${names}`)];
  return [
    warning(
      `the certificate is for ${names}, not for ${known.join(' or ')}`,
      'use a certificate with the name by which clients ask, or set node.host-name to a name in it',
    ),
  ];
}
