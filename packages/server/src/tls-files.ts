import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Settings } from './settings/settings.ts';
import { StartError } from './start-error.ts';

export interface TlsFiles {
  cert: Buffer;
  key: Buffer;
}

/** Certificate and key if they are set, proven to be a pair. */
export async function readTlsFiles({ certFile, keyFile }: Settings['tls']): Promise<TlsFiles | undefined> {
  if (certFile === '') return undefined;
  const [cert, key] = await Promise.all([readSecret('tls.cert-file', certFile), readSecret('tls.key-file', keyFile)]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`tls.cert-file ${certFile} and tls.key-file ${keyFile} cannot be used together: ${reason}`, {
      cause: error,
    });
  }
  return { cert, key };
}

async function readSecret(setting: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new StartError(`${setting}: ${path} cannot be read: ${code}`, { cause: error });
  }
}
