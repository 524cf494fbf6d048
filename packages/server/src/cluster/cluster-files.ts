import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { SecretFingerprint } from '@porthole/cluster';
import { errorMessage } from '@porthole/contract';
import type { ReloadedGroup } from '../auth/reloaded-files.ts';
import { StartError } from '../errors.ts';
import type { Settings } from '../settings/settings.ts';
import type { MemberTls } from './member-fetch.ts';

/** How etcd is contacted. */
interface EtcdFiles {
  password: string | undefined;
  /** PEM texts. */
  tls: { ca?: string; cert?: string; key?: string };
}

type ClusterSettings = Pick<Settings, 'cluster'>;

/** The credential files of the cluster settings, reloaded when they change. */
export class ClusterFiles {
  readonly #settings: ClusterSettings;
  #token: string | undefined;
  #memberTls: MemberTls;
  #etcd: EtcdFiles;
  #fingerprint: { of: string; make: SecretFingerprint } | undefined;
  readonly #onMemberTls = new Set<(tls: MemberTls) => void>();

  private constructor(settings: ClusterSettings, read: { token?: string; memberTls: MemberTls; etcd: EtcdFiles }) {
    this.#settings = settings;
    this.#token = read.token;
    this.#memberTls = read.memberTls;
    this.#etcd = read.etcd;
  }

  static async open(settings: ClusterSettings): Promise<ClusterFiles> {
    const [token, memberTls, etcd] = await Promise.all([
      readToken(settings),
      readMemberTls(settings),
      readEtcdFiles(settings),
    ]);
    return new ClusterFiles(settings, { ...(token !== undefined && { token }), memberTls, etcd });
  }

  /** The token sent to the other members. */
  get token(): string | undefined {
    return this.#token;
  }

  /** How members with https are contacted. */
  get memberTls(): MemberTls {
    return this.#memberTls;
  }

  get etcd(): EtcdFiles {
    return this.#etcd;
  }

  /** Called after a reload. */
  onMemberTls(listener: (tls: MemberTls) => void): void {
    this.#onMemberTls.add(listener);
  }

  /** Lets nodes with the same token compare their secrets. `undefined` without a token. */
  async fingerprint(): Promise<SecretFingerprint | undefined> {
    if (this.#token === undefined) return undefined;
    const { secretFingerprint } = await import('@porthole/cluster');
    return (key, value) => {
      const token = this.#token ?? '';
      if (this.#fingerprint?.of !== token) this.#fingerprint = { of: token, make: secretFingerprint(token) };
      return this.#fingerprint.make(key, value);
    };
  }

  /** Files that belong together are reloaded together. */
  get groups(): ReloadedGroup[] {
    const { tokenFile, caFile, certFile, keyFile, ...cluster } = this.#settings.cluster;
    const group = (setting: string, paths: readonly string[], reload: () => Promise<void>): ReloadedGroup[] => {
      const given = paths.filter((path) => path !== '');
      return given.length === 0 ? [] : [{ setting, paths: given, reload }];
    };
    const etcdPaths = [cluster.etcdPasswordFile, cluster.etcdCaFile, cluster.etcdCertFile, cluster.etcdKeyFile];
    return [
      ...group('cluster.token-file', [tokenFile], async () => {
        this.#token = await readToken(this.#settings);
      }),
      ...group(certFile === '' ? 'cluster.ca-file' : 'cluster.cert-file', [certFile, keyFile, caFile], async () => {
        this.#memberTls = await readMemberTls(this.#settings);
        for (const listener of this.#onMemberTls) listener(this.#memberTls);
      }),
      ...group('cluster.etcd-password-file, cluster.etcd-cert-file', etcdPaths, async () => {
        this.#etcd = await readEtcdFiles(this.#settings);
      }),
    ];
  }
}

async function readToken({ cluster }: ClusterSettings): Promise<string | undefined> {
  const bytes = await readOptional('cluster.token-file', cluster.tokenFile);
  return bytes && parseToken('cluster.token-file', bytes);
}

async function readEtcdFiles({ cluster }: ClusterSettings): Promise<EtcdFiles> {
  const [password, ca, cert, key] = await Promise.all([
    readOptional('cluster.etcd-password-file', cluster.etcdPasswordFile),
    readOptional('cluster.etcd-ca-file', cluster.etcdCaFile),
    readOptional('cluster.etcd-cert-file', cluster.etcdCertFile),
    readOptional('cluster.etcd-key-file', cluster.etcdKeyFile),
  ]);
  checkPair({ cert, key }, [
    'cluster.etcd-cert-file',
    cluster.etcdCertFile,
    'cluster.etcd-key-file',
    cluster.etcdKeyFile,
  ]);
  return {
    password: password?.toString('utf8').replace(/\r?\n$/, ''),
    tls: {
      ...(ca && { ca: ca.toString() }),
      ...(cert && { cert: cert.toString() }),
      ...(key && { key: key.toString() }),
    },
  };
}

/** Checks that the certificate for members matches its key. */
async function readMemberTls({ cluster }: ClusterSettings): Promise<MemberTls> {
  const [ca, cert, key] = await Promise.all([
    readOptional('cluster.ca-file', cluster.caFile),
    readOptional('cluster.cert-file', cluster.certFile),
    readOptional('cluster.key-file', cluster.keyFile),
  ]);
  checkPair({ cert, key }, ['cluster.cert-file', cluster.certFile, 'cluster.key-file', cluster.keyFile]);
  return { ca, cert, key };
}

function checkPair(
  { cert, key }: Partial<Record<'cert' | 'key', Buffer | undefined>>,
  [certSetting, certFile, keySetting, keyFile]: readonly [string, string, string, string],
): void {
  try {
    if (cert && key) createSecureContext({ cert, key });
  } catch (error) {
    const reason = errorMessage(error);
    throw new StartError(`${certSetting} ${certFile} and ${keySetting} ${keyFile} cannot be used together: ${reason}`, {
      cause: error,
    });
  }
}

async function readOptional(setting: string, path: string): Promise<Buffer | undefined> {
  if (path === '') return undefined;
  try {
    return await readFile(path);
  } catch (error) {
    const reason = errorMessage(error);
    throw new StartError(`${setting}: ${reason}`, { cause: error });
  }
}

function parseToken(setting: string, bytes: Buffer): string {
  const word = bytes.toString('utf8').trim();
  // Not quoted: it may contain a token.
  if (!/^[\x21-\x7e]+$/.test(word))
    throw new StartError(`${setting}: the file must contain one token and nothing else`);
  return word;
}
