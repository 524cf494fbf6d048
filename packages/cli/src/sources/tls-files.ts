import { readFile } from 'node:fs/promises';
import { errorMessage } from '@porthole/contract';
import { ProgramError } from '../exit.ts';
import type { Context } from './context-file.ts';

/** What a TLS connection needs besides the address. */
export interface ClientTls {
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
}

type TlsPaths = Pick<Context, 'url' | 'caFile' | 'certFile' | 'keyFile'>;

/** Reads and checks certificates and key; `undefined` if there are none. */
export async function readTlsFiles({ url, caFile, certFile, keyFile }: TlsPaths): Promise<ClientTls | undefined> {
  const given = caFile !== undefined ? '--ca-file' : certFile !== undefined ? '--cert-file' : '--key-file';
  if ((caFile ?? certFile ?? keyFile) === undefined) return undefined;
  if (!/^https:/i.test(url)) throw new ProgramError(`${given} needs an https address; got ${url}`);
  if (keyFile !== undefined && certFile === undefined) throw new ProgramError('--key-file needs --cert-file');
  if (certFile !== undefined && keyFile === undefined) throw new ProgramError('--cert-file needs --key-file');
  const ca = caFile === undefined ? undefined : await readPem('--ca-file', caFile, 'CERTIFICATE');
  const cert = certFile === undefined ? undefined : await readPem('--cert-file', certFile, 'CERTIFICATE');
  const key = keyFile === undefined ? undefined : await readPem('--key-file', keyFile, 'PRIVATE KEY');
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  const { createSecureContext } = await import('node:tls');
  const check = (label: string, options: ClientTls) => {
    try {
      createSecureContext(options);
    } catch (error) {
      throw new ProgramError(`${label} cannot be used: ${errorMessage(error)}`, { cause: error });
    }
  };
  if (ca) check(`--ca-file ${caFile}`, { ca });
  if (cert && key) check(`--cert-file ${certFile} and --key-file ${keyFile}`, { cert, key });
  return tls;
}

async function readPem(flag: string, path: string, block: string): Promise<Buffer> {
  let pem: Buffer;
  try {
    pem = await readFile(path);
  } catch (error) {
    throw new ProgramError(`${flag}: ${errorMessage(error)}`, { cause: error });
  }
  if (!pem.includes(`${block}-----`))
    throw new ProgramError(`invalid ${flag} ${path}: expected a ${block.toLowerCase()} (PEM)`);
  return pem;
}
