import { describe, expect, it } from 'vitest';
import { createStaticMembers } from './static-members.ts';
import { memberIds, testSelf } from './testing/members.ts';

const self = testSelf('self', { url: 'http://10.0.0.9:9000' });

describe('a fixed list of members', () => {
  it('has only this node when no members are listed', async () => {
    const members = createStaticMembers({ self, members: [] });
    await members.start();
    expect(members.state).toMatchObject({ kind: 'alone', state: 'ok', detail: null });
    expect(members.members).toEqual([{ ...self, isSelf: true }]);
    await members.close();
  });

  it('knows of the others what is in their URLs', () => {
    const { members, state } = createStaticMembers({ self, members: ['http://b:2', 'a=https://x.example'] });
    expect(state.kind).toBe('static');
    const blank = { hostName: '', grpcPort: 0, version: '', onlineTime: 0 };
    expect(members.filter(({ isSelf }) => !isSelf)).toEqual([
      {
        id: 'a',
        role: 'unknown',
        labels: {},
        url: 'https://x.example',
        node: { ...blank, hostIp: 'x.example', httpPort: 443 },
        isSelf: false,
      },
      {
        id: 'b:2',
        role: 'unknown',
        labels: {},
        url: 'http://b:2',
        node: { ...blank, hostIp: 'b', httpPort: 2 },
        isSelf: false,
      },
    ]);
  });

  it('can be the same on all nodes: this node is in it once, by its id or its URL', () => {
    const list = ['http://10.0.0.9:9000', 'self=http://other-name:9000', 'http://b:2', 'http://b:2/'];
    expect(memberIds(createStaticMembers({ self, members: list }))).toEqual(['b:2', 'self']);
  });

  it('takes IPv6', () => {
    const { members } = createStaticMembers({ self, members: ['http://[fd00::1]:80'] });
    expect(members[0]).toMatchObject({
      id: 'fd00::1:80',
      url: 'http://[fd00::1]',
      node: { hostIp: 'fd00::1', httpPort: 80 },
    });
  });

  it('learns the labels of a member, and tells its listeners once for all that is learned together', async () => {
    const members = createStaticMembers({ self, members: ['a=http://b:2'] });
    let changes = 0;
    members.onChange(() => changes++);
    const [known] = members.members;
    if (!known) throw new Error('no member');
    for (const zone of ['a', 'a', 'b']) members.learn?.('a', { ...known, labels: { zone } });
    expect(members.members[0]?.labels).toEqual({ zone: 'b' });
    await Promise.resolve();
    expect(changes).toBe(1);
    for (const zone of ['b', 'c']) members.learn?.('a', { ...known, labels: { zone } });
    await Promise.resolve();
    expect(changes).toBe(2);
  });

  it('may be mounted at a path', () => {
    const { members } = createStaticMembers({ self, members: ['b=http://b:2/ops/'] });
    expect(members.find(({ id }) => id === 'b')).toMatchObject({ url: 'http://b:2/ops', node: { httpPort: 2 } });
  });

  it.each([
    [''],
    ['b:2'],
    ['ftp://b:2'],
    ['http://'],
    ['http://u:secret@b:2'],
    ['http://b:2/path?x=1'],
    ['http://b:2/a//b'],
    ['http://b:2?x=1'],
    ['=http://b:2'],
    ['sp ace=http://b:2'],
    ['..=http://b:2'],
    ['http://b:99999'],
  ])('refuses %j', (text) => {
    const create = () => createStaticMembers({ self, members: [text] });
    expect(create).toThrow(expect.objectContaining({ code: 'PARAMETER_INVALID' }));
    expect(create).not.toThrow(/secret/);
  });

  it('refuses two members with one id', () => {
    const create = () => createStaticMembers({ self, members: ['a=http://b:2', 'a=http://c:3'] });
    expect(create).toThrow('two members have the id "a"');
  });
});
