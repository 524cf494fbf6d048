import { randomUUID } from 'node:crypto';

/** Maximum operations per transaction. */
const MAX_TRANSACTION = 128;

interface KeyValue {
  key: string;
  value: string;
  lease: string;
}

/** Accesses etcd independently of the code under test, through its JSON gateway. */
export abstract class EtcdGateway {
  abstract get url(): string;

  async put(key: string, value: string | Uint8Array, { lease = '0' } = {}): Promise<void> {
    await this.post('kv/put', { key: toBase64(key), value: toBase64(value), lease });
  }

  /** In large transactions. */
  async putAll(entries: readonly (readonly [key: string, value: string])[]): Promise<void> {
    for (let at = 0; at < entries.length; at += MAX_TRANSACTION) {
      const success = entries
        .slice(at, at + MAX_TRANSACTION)
        .map(([key, value]) => ({ requestPut: { key: toBase64(key), value: toBase64(value) } }));
      await this.post('kv/txn', { success });
    }
  }

  /** Deletes a key, or all keys with this prefix. */
  async delete(key: string, { isPrefix = false } = {}): Promise<void> {
    await this.post('kv/deleterange', keyRange(key, isPrefix));
  }

  /** All keys with this prefix. */
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

  /** Compacts the history up to now. */
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

  /** Enables authentication with one user that has a permission below one prefix. */
  async requireUser(
    name: string,
    password: string,
    may: { type: 'READ' | 'READWRITE'; prefix: string },
  ): Promise<void> {
    // etcd requires a root user; its password is not used.
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

  /** Bytes are base64 in the JSON gateway. */
  async post(path: string, body: object): Promise<unknown> {
    const response = await fetch(`${this.url}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`etcd responded to ${path} with ${response.status}: ${text}`);
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
