import { describe, expect, it, onTestFinished } from 'vitest';
import { readAddress } from '../member-address.ts';
import { startTestEtcd } from '../testing/etcd.ts';
import { EtcdConnection } from './etcd-connection.ts';
import { type KeyChange, watchPrefixes } from './prefixes.ts';

async function connect() {
  const etcd = await startTestEtcd();
  const connection = new EtcdConnection(readAddress(etcd.url));
  onTestFinished(() => connection.close());
  return { etcd, connection };
}

const prefixes = ['/one/', '/two/'];

describe('a watch', () => {
  it('emits everything after its revision, of all its prefixes and of nothing else', async () => {
    const { etcd, connection } = await connect();
    await etcd.put('/one/a', 'before');
    const afterRevision = String(await etcd.revision());
    await etcd.put('/one/a', 'after');
    await etcd.put('/other/a', 'unseen');
    await etcd.put('/two/b', 'seen');
    await etcd.delete('/two/b');
    const seen: KeyChange[] = [];
    const { signal } = new AbortController();
    for await (const changes of watchPrefixes(connection, { prefixes, afterRevision, signal })) {
      seen.push(...changes);
      if (seen.length >= 3) break;
    }
    const emitted = seen.map(({ key, value }) => `${key} ${value && Buffer.from(value).toString()}`);
    expect(emitted.sort()).toEqual(['/one/a after', '/two/b seen', '/two/b undefined']);
  });

  it('ends if the changes it should emit were compacted', async () => {
    const { etcd, connection } = await connect();
    for (const value of ['1', '2', '3', '4']) await etcd.put('/one/a', value);
    await etcd.compact();
    const { signal } = new AbortController();
    const watch = watchPrefixes(connection, { prefixes: ['/one/'], afterRevision: '1', signal });
    const seen: KeyChange[] = [];
    for await (const changes of watch) seen.push(...changes);
    expect(seen).toEqual([]);
  });

  it('fails with the reason of the one who stops it', async () => {
    const { connection } = await connect();
    const stopping = new AbortController();
    const watch = watchPrefixes(connection, { prefixes, afterRevision: '1', signal: stopping.signal });
    await watch.next();
    stopping.abort(new Error('enough'));
    const drain = async () => {
      for await (const _ of watch);
    };
    await expect(drain()).rejects.toThrow('enough');
  });
});
