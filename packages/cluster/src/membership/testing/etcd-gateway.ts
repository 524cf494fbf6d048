import { randomUUID } from 'node:crypto';

/** Writes that etcd takes at once. */
const MAX_TRANSACTION = 128;

interface KeyValue {
  key: string;
  value: string;
  lease: string;
}

/** What a test does to an etcd past the code under test: over the JSON that etcd also speaks. */
export abstract class EtcdGateway {
  abstract get url(): string;

  async put(key: string, value: string | Uint8Array, { lease = '0' } = {}): Promise<void> {
    await this.post('kv/put', { key: toBase64(key), value: toBase64(value), lease });
  }

  /** Many at a time. */
  async putAll(entries: readonly (readonly [key: string, value: string])[]): Promise<void> {
    for (let at = 0; at < entries.length; at += MAX_TRANSACTION) {
      const success = entries
        .slice(at, at + MAX_TRANSACTION)
        .map(([key, value]) => ({ requestPut: { key: toBase64(key), value: toBase64(value) } }));
      await this.post('kv/txn', { success });
    }
  }

  /** Of a key, or of all that begin with it. */
  async delete(key: string, { isPrefix = false } = {}): Promise<void> {
    await this.post('kv/deleterange', keyRange(key, isPrefix));
  }

  /** All keys that begin so. */
  async list(prefix: string): Promise<KeyValue[]> {
    const { kvs = [] } = (await this.post('kv/range', keyRange(prefix, true))) as { kvs?: Partial<KeyValue>[] };
    return kvs.map(({ key = '', value = '', lease = '0' }) => ({
      key: fromBase64(key),
      value: fromBase64(value),
      lease,
    }));
  }

  async revision(): Promise<number> {
    const { header } = (await this.post('kv/range', { key: toBase64('/') })) as { header: { revision: string } };
    return Number(header.revision);
  }

  /** Forgets everything that happened before now. */
  async compact(): Promise<void> {
    await this.post('kv/compaction', { revision: String(await this.revision()), physical: true });
  }

  /** Ids of all leases. */
  async leases(): Promise<string[]> {
    const { leases = [] } = (await this.post('lease/leases', {})) as { leases?: { ID: string }[] };
    return leases.map(({ ID }) => ID);
  }

  async revokeLease(id: string): Promise<void> {
    await this.post('lease/revoke', { ID: id });
  }

  /** From now on nobody is let in without a user; this one may do only so much, below one prefix. */
  async requireUser(
    name: string,
    password: string,
    may: { type: 'READ' | 'READWRITE'; prefix: string },
  ): Promise<void> {
    // etcd wants a root; nobody here knows its password.
    await this.#addUser('root', randomUUID(), 'root');
    await this.#addUser(name, password, 'limited');
    await this.post('auth/role/grant', {
      name: 'limited',
      perm: { permType: may.type, ...keyRange(may.prefix, true) },
    });
    await this.post('auth/enable', {});
  }

  async #addUser(name: string, password: string, role: string): Promise<void> {
    await this.post('auth/role/add', { name: role });
    await this.post('auth/user/add', { name, password });
    await this.post('auth/user/grant', { user: name, role });
  }

  /** Its JSON gateway, so that what is tested is not what tests. Bytes are in base64 there. */
  async post(path: string, body: object): Promise<unknown> {
    const response = await fetch(`${this.url}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`etcd answered ${path} with ${response.status}: ${text}`);
    return JSON.parse(text);
  }
}

function keyRange(key: string, isPrefix: boolean): object {
  const last = String.fromCharCode(key.charCodeAt(key.length - 1) + 1);
  return { key: toBase64(key), ...(isPrefix ? { range_end: toBase64(`${key.slice(0, -1)}${last}`) } : {}) };
}

function toBase64(value: string | Uint8Array): string {
  return Buffer.from(value).toString('base64');
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString();
}
