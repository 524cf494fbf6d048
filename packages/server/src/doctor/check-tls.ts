import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { StartError } from '../errors.ts';
import { CERTIFICATE_BLOCKS, readTlsFiles } from '../tls-files.ts';
import { type CheckContext, type CheckOutcome, ok, problem, warning } from './check-result.ts';

const DAY_MS = 86_400_000;

/** Certificates are usually renewed a month before they expire; one with less time left was forgotten. */
const SOON_DAYS = 21;

const OTHERS_READ = 0o004;

/** Whether certificate and key match, are valid now and are for this machine. */
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
          ? 'set auth.client-ca-file to the certificates (PEM) of the client certificate authorities, readable for the node'
          : 'set tls.cert-file and tls.key-file to a PEM chain and its key, readable for the node',
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

/** The authorities that sign client certificates. */
async function checkClientCa(file: string, nowMs: number): Promise<CheckOutcome[]> {
  if (file === '') return [];
  const blocks = (await readFile(file, 'latin1')).match(CERTIFICATE_BLOCKS) ?? [];
  const ended = blocks.map((block) => new X509Certificate(block)).filter(({ validTo }) => Date.parse(validTo) < nowMs);
  const counted = `${file} contains ${blocks.length} client certificate ${blocks.length === 1 ? 'authority' : 'authorities'}`;
  if (ended.length === 0) return [ok(counted)];
  return [
    problem(`${counted}, ${ended.length} of them expired`, 'replace it with the renewed certificate of the authority'),
  ];
}

function checkValidity({ validFrom, validTo }: X509Certificate, nowMs: number): CheckOutcome {
  const days = Math.floor((Date.parse(validTo) - nowMs) / DAY_MS);
  const renew = 'renew the certificate; a running node reloads the files';
  if (nowMs < Date.parse(validFrom))
    return problem(`the certificate is not valid before ${validFrom}`, 'check the clock of this machine');
  if (days < 0) return problem(`the certificate expired on ${validTo}`, renew);
  const detail = `key and certificate match, valid for ${days} more days`;
  return days < SOON_DAYS ? warning(detail, renew) : ok(detail);
}

/** Clients verify the name they connect to: the certificate should contain one of the node's names. */
function checkCertificateNames(certificate: X509Certificate, { node, http }: CheckContext['settings']): CheckOutcome[] {
  const names = certificate.subjectAltName ?? certificate.subject.replaceAll('\n', ', ');
  const known = [node.hostName || hostname(), node.hostIp, http.host].filter((name) => name !== '');
  const isNamed = known.some((name) => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)));
  if (isNamed) return [ok(`the certificate is for ${names}`)];
  return [
    warning(
      `the certificate is for ${names}, not for ${known.join(' or ')}`,
      'use a certificate for the name clients connect to, or set node.host-name to a name in it',
    ),
  ];
}
