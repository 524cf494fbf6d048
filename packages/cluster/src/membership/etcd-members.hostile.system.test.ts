import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { encodeEtcdValue, readEtcdValue } from './etcd-members.ts';
import { startTestEtcd, type TestEtcd } from './testing/etcd.ts';
import { joinEtcd, memberIds, RecordingLog, testSelf } from './testing/members.ts';

const PREFIX = '/porthole/test/members/';

function registered(id: string, given: object = {}): string {
  return JSON.stringify({ ...testSelf(id), ...given });
}

const { node } = testSelf('x');

/** Name of the key, and what is written there. */
const HOSTILE: readonly (readonly [name: string, value: string])[] = [
  ['garbage', '\0\u{1f4a9}{'],
  ['empty', ''],
  ['null', 'null'],
  ['array', '[]'],
  ['deep', '['.repeat(20_000)],
  ['bad-url', registered('bad-url', { url: 'nowhere' })],
  ['file-url', registered('file-url', { url: 'file:///etc/passwd' })],
  ['script-url', registered('script-url', { url: 'javascript:alert(1)' })],
  ['path-url', registered('path-url', { url: 'http://h:1/a?b#c' })],
  ['password', registered('password', { url: 'http://u:hunter2@h:1' })],
  ['number-url', registered('number-url', { url: 1 })],
  ['not-mine', registered('other')],
  ['no-id', registered('no-id', { id: undefined })],
  ['.', registered('.')],
  ['..', registered('..')],
  ['__proto__', registered('__proto__')],
  ['a/b', registered('a/b')],
  ['sp ace', registered('sp ace')],
  ['line\nbreak', registered('line\nbreak')],
  ['i'.repeat(129), registered('i'.repeat(129))],
  ['', registered('')],
  ['bad-role', registered('bad-role', { role: '<b>' })],
  ['no-node', registered('no-node', { node: undefined })],
  ['bad-port', registered('bad-port', { node: { ...node, httpPort: 65_536 } })],
  ['half-port', registered('half-port', { node: { ...node, grpcPort: 1.5 } })],
  ['bad-time', registered('bad-time', { node: { ...node, onlineTime: '2020' } })],
  ['long-name', registered('long-name', { node: { ...node, hostName: 'h'.repeat(257) } })],
  ['escape', registered('escape', { node: { ...node, hostName: '\u001b[2J' } })],
];

async function fill(etcd: TestEtcd, entries: readonly (readonly [string, string])[]): Promise<void> {
  await etcd.putAll(entries.map(([name, value]) => [`${PREFIX}${name}`, value]));
}

describe('what others wrote to etcd', () => {
  it.each([7, 'zone=a', { zone: 7, 'a b': 'c', constructor: 'x', long: 'x'.repeat(65) }, [1]])(
    'labels %j are left out, the member is not',
    (labels) => {
      expect(readEtcdValue('a', Buffer.from(registered('a', { labels }))).labels).toEqual({});
    },
  );

  it.each(HOSTILE)('%j is refused, and its message shows no secret', (name, value) => {
    let message = '';
    try {
      readEtcdValue(name, Buffer.from(value));
    } catch (error) {
      message = String(error);
    }
    expect(message).not.toBe('');
    expect(message).not.toContain('hunter2');
    expect(message.length).toBeLessThan(300);
  });

  it('is read back as it was written', () => {
    const member = { ...testSelf('a:1_b-c.d'), isSelf: false };
    expect(readEtcdValue(member.id, Buffer.from(encodeEtcdValue(member)))).toEqual(member);
  });

  it('is skipped if it is invalid, and reported once, from the list and from the watch', async () => {
    const etcd = await startTestEtcd();
    await fill(etcd, [...HOSTILE, ['good', registered('good')]]);
    const log = new RecordingLog();
    const member = await joinEtcd('a', etcd.url, { log });
    // A busy etcd is asked again.
    await eventually(() => expect(memberIds(member)).toEqual(['a', 'good']));
    expect(member.state).toMatchObject({ state: 'ok', detail: expect.stringContaining(`${HOSTILE.length}`) as string });
    expect(log.invalid).toEqual([expect.stringContaining(`${HOSTILE.length} invalid registrations: `)]);

    await etcd.put(`${PREFIX}late`, 'rubbish');
    await etcd.put(`${PREFIX}good`, 'spoilt');
    await eventually(() => expect(memberIds(member)).toEqual(['a']));
    await etcd.put(`${PREFIX}garbage`, registered('garbage'));
    await eventually(() => expect(memberIds(member)).toEqual(['a', 'garbage']));
    await etcd.delete(PREFIX, { isPrefix: true });
    await eventually(() => expect(member.state.detail).toBeNull());
    expect(log.warnings.join('\n')).toContain(`"${PREFIX}late": its value is not a JSON object`);
    expect(log.warnings.join('\n')).not.toContain('hunter2');
  });

  it('is read in smaller pages where values are huge, and beyond all bounds not at all', async () => {
    const etcd = await startTestEtcd({ flags: ['--max-request-bytes', '20000000'] });
    const pad = (id: string, bytes: number): string => registered(id, { pad: 'x'.repeat(bytes) });
    for (const id of ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']) await etcd.put(`${PREFIX}${id}`, pad(id, 1_000_000));
    await etcd.put(`${PREFIX}h7`, pad('h7', 6_000_000));
    await etcd.put(`${PREFIX}good`, pad('good', 10_000));
    const member = await joinEtcd('a', etcd.url);
    await eventually(() => expect([member.state.state, ...memberIds(member)]).toEqual(['ok', 'a', 'good']));
    await etcd.put(`${PREFIX}h8`, pad('h8', 6_000_000));
    await etcd.put(`${PREFIX}z`, registered('z'));
    await eventually(() => expect([member.state.state, ...memberIds(member)]).toEqual(['ok', 'a', 'good', 'z']));
  });

  it('is bounded: so many members, so many keys', async () => {
    const etcd = await startTestEtcd();
    const names = (letter: string, count: number) => Array.from({ length: count }, (_, at) => `${letter}${1000 + at}`);
    await fill(
      etcd,
      names('m', 600).map((id) => [id, registered(id)]),
    );
    const log = new RecordingLog();
    const member = await joinEtcd('a', etcd.url, { maxMembers: 500, log });
    await eventually(() => expect(memberIds(member)).toEqual(['a', ...names('m', 499)]));
    expect(log.invalid).toEqual([expect.stringContaining('101 invalid registrations')]);
    await etcd.delete(`${PREFIX}m1000`);
    await eventually(() => expect(memberIds(member)).toEqual(['a', ...names('m', 500).slice(1)]));
    await fill(
      etcd,
      names('0', 2000).map((id) => [id, 'rubbish']),
    );
    const late = await joinEtcd('b', etcd.url, { maxMembers: 500, log });
    await eventually(() => expect(log.warnings.join('\n')).toContain('more than 1500 keys'));
    expect(memberIds(late)).toEqual(['b']);
  });

  it('may be ten thousand members', async () => {
    const etcd = await startTestEtcd();
    const ids = Array.from({ length: 10_001 }, (_, at) => `m${10_000 + at}`);
    await fill(
      etcd,
      ids.map((id) => [id, registered(id)]),
    );
    const member = await joinEtcd('a', etcd.url);
    await eventually(() => expect(memberIds(member)).toEqual(['a', ...ids.slice(0, 9999)]));
  });
});
