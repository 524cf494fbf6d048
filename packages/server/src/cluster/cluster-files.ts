import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Settings } from '../settings/settings.ts';
import { StartError } from '../start-error.ts';
import type { MemberTls } from './member-fetch.ts';

/** What the settings of the cluster only name. */
export interface ClusterFiles {
  /** Shown to the other members. */
  token: string | undefined;
  /** How members with https are asked. */
  memberTls: MemberTls;
  etcdPassword: string | undefined;
  /** PEM texts. */
  etcdTls: { ca?: string; cert?: string; key?: string };
}

export async function readClusterFiles({ cluster }: Pick<Settings, 'cluster'>): Promise<ClusterFiles> {
  const [token, memberTls, password, etcdCa, cert, key] = await Promise.all([
    readIf('cluster.token-file', cluster.tokenFile),
    readMemberTls({ cluster }),
    readIf('cluster.etcd-password-file', cluster.etcdPasswordFile),
    readIf('cluster.etcd-ca-file', cluster.etcdCaFile),
    readIf('cluster.etcd-cert-file', cluster.etcdCertFile),
    readIf('cluster.etcd-key-file', cluster.etcdKeyFile),
  ]);
  return {
    token: token && oneWord('cluster.token-file', token),
    memberTls,
    etcdPassword: password?.toString('utf8').replace(/\r?\n$/, ''),
    etcdTls: {
      ...(etcdCa && { ca: etcdCa.toString() }),
      ...(cert && { cert: cert.toString() }),
      ...(key && { key: key.toString() }),
    },
  };
}

/** The certificate that members are shown is proven to fit its key. */
export async function readMemberTls({ cluster }: Pick<Settings, 'cluster'>): Promise<MemberTls> {
  const [ca, cert, key] = await Promise.all([
    readIf('cluster.ca-file', cluster.caFile),
    readIf('cluster.cert-file', cluster.certFile),
    readIf('cluster.key-file', cluster.keyFile),
  ]);
  try {
    if (cert && key) createSecureContext({ cert, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `cluster.cert-file ${cluster.certFile} and cluster.key-file ${cluster.keyFile} cannot be used together: ${reason}`,
      { cause: error },
    );
  }
  return { ca, cert, key };
}

async function readIf(setting: string, path: string): Promise<Buffer | undefined> {
  if (path === '') return undefined;
  try {
    return await readFile(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`${setting}: ${reason}`, { cause: error });
  }
}

function oneWord(setting: string, bytes: Buffer): string {
  const word = bytes.toString('utf8').trim();
  // Not quoted: it may be a token after all.
  if (!/^[\x21-\x7e]+$/.test(word)) throw new StartError(`${setting}: the file must hold one token and nothing else`);
  return word;
}
