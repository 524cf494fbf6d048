import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type TlsOptions } from 'node:tls';
import { types } from 'node:util';
import { errorMessage } from '@porthole/contract';
import { StartError } from './errors.ts';
import type { Settings } from './settings/settings.ts';

export interface TlsFiles {
  cert: Buffer;
  key: Buffer;
  /** The authorities that sign client certificates; if missing, clients are not asked for one. */
  clientCa: Buffer | undefined;
  /** The revocation lists of these authorities. */
  clientCrl: Buffer | undefined;
}

/** The certificates in a PEM text. */
export const CERTIFICATE_BLOCKS = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

const CRL_BLOCKS = /-----BEGIN X509 CRL-----[^-]+-----END X509 CRL-----/g;

type TlsSettings = Pick<Settings, 'tls' | 'auth'>;

/** Certificate and key if they are set, checked to be a pair, and the client certificate authorities. */
export async function readTlsFiles({ tls, auth }: TlsSettings): Promise<TlsFiles | undefined> {
  const { certFile, keyFile } = tls;
  if (certFile === '') return undefined;
  const [cert, key] = await Promise.all([readSecret('tls.cert-file', certFile), readSecret('tls.key-file', keyFile)]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = errorMessage(error);
    throw new StartError(`tls.cert-file ${certFile} and tls.key-file ${keyFile} cannot be used together: ${reason}`, {
      cause: error,
    });
  }
  const [clientCa, clientCrl] = await Promise.all([readClientCa(auth.clientCaFile), readClientCrl(auth.clientCrlFile)]);
  return { cert, key, clientCa, clientCrl };
}

/** TLS options of a server, at start and on reload. Clients without a valid certificate are refused per request. */
export function tlsServerOptions({ cert, key, clientCa, clientCrl }: TlsFiles): TlsOptions {
  const options: TlsOptions = { cert, key, minVersion: 'TLSv1.2' };
  if (!clientCa) return options;
  return {
    ...options,
    ca: clientCa,
    ...(clientCrl && { crl: listsIn(clientCrl) }),
    requestCert: true,
    rejectUnauthorized: false,
  };
}

async function readClientCa(path: string): Promise<Buffer | undefined> {
  if (path === '') return undefined;
  const pem = await readSecret('auth.client-ca-file', path);
  const blocks = pem.toString('latin1').match(CERTIFICATE_BLOCKS) ?? [];
  if (blocks.length === 0) throw new StartError(`auth.client-ca-file: ${path} contains no certificate (PEM)`);
  try {
    for (const block of blocks) new X509Certificate(block);
  } catch (error) {
    const reason = errorMessage(error);
    throw new StartError(`auth.client-ca-file: ${path} contains an invalid certificate: ${reason}`, {
      cause: error,
    });
  }
  return pem;
}

async function readClientCrl(path: string): Promise<Buffer | undefined> {
  if (path === '') return undefined;
  const pem = await readSecret('auth.client-crl-file', path);
  const blocks = listsIn(pem);
  if (blocks.length === 0) throw new StartError(`auth.client-crl-file: ${path} contains no revocation list (PEM)`);
  try {
    createSecureContext({ crl: blocks });
  } catch (error) {
    const reason = errorMessage(error);
    throw new StartError(`auth.client-crl-file: ${path} contains an invalid revocation list: ${reason}`, {
      cause: error,
    });
  }
  return pem;
}

/** One list per authority: Node.js reads only the first one of a PEM text. */
function listsIn(pem: Buffer): string[] {
  return pem.toString('latin1').match(CRL_BLOCKS) ?? [];
}

async function readSecret(setting: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = types.isNativeError(error) && 'code' in error ? error.code : error;
    throw new StartError(`${setting}: ${path} cannot be read: ${code}`, { cause: error });
  }
}
