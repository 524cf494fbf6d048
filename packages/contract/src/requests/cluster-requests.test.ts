import { describe, expect, it } from 'vitest';
import { decodeFollowPositions, encodeFollowPositions } from '../params/follow-positions.ts';
import { CLOCK, describeRefusal } from '../testing/describe-refusal.ts';
import { decodeMemberId, encodeAround, parseAroundRequest, parseMemberSelection } from './cluster-requests.ts';
import { encodeFollow, encodeSearch, parseCount, parseFollowRequest, parseSearchRequest } from './record-requests.ts';

const LIMITS = { maxRecords: 1000 };
const query = (text: string) => new URLSearchParams(text);
const selection = (text: string) => parseMemberSelection(query(text));
/** Of all nodes, unless it names others. */
const ofAll = (text: string) => query(/nodes=|role=/.test(text) ? text : `nodes=*&${text}`);
const search = (text: string) => parseSearchRequest(ofAll(text), CLOCK, LIMITS);
const follow = (text: string, id?: string) => parseFollowRequest(ofAll(text), CLOCK, id);
const moment = (text: string) => parseAroundRequest(query(text), CLOCK, LIMITS);

describe('the selected members', () => {
  it.each([
    ['', {}],
    ['nodes=&role=', {}],
    ['nodes=a', { nodes: ['a'] }],
    ['nodes=a,b*&nodes=c', { nodes: ['a', 'b*', 'c'] }],
    ['nodes=broker-*&nodes=db-7%3A730%3F&role=broker', { nodes: ['broker-*', 'db-7:730?'], role: 'broker' }],
  ])('by %j are %o', (text, expected) => {
    expect(selection(text)).toEqual(expected);
  });

  it.each([
    [
      'nodes=a/b',
      'PARAMETER_INVALID: invalid "nodes" "a/b": expected the id of a member, or a pattern of ids with * and ?',
    ],
    ['role=a*', 'PARAMETER_INVALID: invalid "role" "a*": expected 1 to 32 letters, digits, dashes and underscores'],
    ['role=a&role=b', 'BAD_REQUEST: the parameter "role" is given 2 times'],
    [`${'nodes=a&'.repeat(65)}`, 'PARAMETER_INVALID: "nodes" is given 65 times; at most 64 are allowed: use a pattern'],
  ])('by %j are refused', (text, message) => {
    expect(describeRefusal(() => selection(text))).toBe(message);
  });

  it('by a text that is too long are refused without repeating all of it', () => {
    expect(describeRefusal(() => selection(`nodes=${'x'.repeat(129)}`)).length).toBeLessThan(200);
    expect(selection(`nodes=${'x'.repeat(128)}`).nodes?.[0]).toHaveLength(128);
  });
});

describe('an id in a path', () => {
  it('is decoded once', () => {
    expect(decodeMemberId('db-7%3A7300')).toBe('db-7:7300');
    expect(describeRefusal(() => decodeMemberId('db-7%253A7300'))).toMatch(/^MEMBER_NOT_FOUND/);
  });

  it.each(['', '%', '%2F', 'a/b', '%00', 'ä', 'x'.repeat(129)])('cannot be %j', (segment) => {
    expect(describeRefusal(() => decodeMemberId(segment))).toMatch(/^MEMBER_NOT_FOUND: no member has such an id/);
  });
});

describe('a search of several nodes', () => {
  it('takes the conditions of a search, and a selection of nodes', () => {
    expect(search('nodes=a*&q=x&level=warn&order=oldest&time=@1')).toEqual({
      nodes: ['a*'],
      terms: ['x'],
      minLevel: 'WARN',
      order: 'oldest',
      limit: 200,
      before: 0,
      after: 0,
      start: { timeMs: 1000 },
    });
    expect(search('cursor=c1').start).toEqual({ cursor: 'c1' });
  });

  it.each(['record=c1', 'offset=1&file=a.log', 'until=c1'])('takes no position of a single node: %s', (text) => {
    expect(describeRefusal(() => search(text))).toMatch(/^PARAMETER_INVALID: .* is a position in the logs of one node/);
  });

  it('is read back as it was written', () => {
    const request = search('nodes=a*&nodes=b&role=broker&q=x&from=@1&cursor=c1&limit=7');
    expect(parseSearchRequest(encodeSearch(request), CLOCK, LIMITS)).toEqual(request);
  });
});

describe('a follow of several nodes', () => {
  it.each(['auto', 'archive', 'x'])('reads no store but nodes, like that of one: %s', (store) => {
    const given = query(`store=${store}`);
    expect(describeRefusal(() => parseFollowRequest(given, CLOCK))).toMatch(
      /^PARAMETER_INVALID: "store" cannot be .* here: /,
    );
    expect(parseFollowRequest(query('store=nodes'), CLOCK)).toEqual({ start: 'end' });
  });

  it('starts at the end, some records back or at a time', () => {
    expect(follow('').start).toBe('end');
    expect(follow('back=5&nodes=a')).toEqual({ start: { back: 5 }, nodes: ['a'] });
    expect(parseFollowRequest(query('cursor=c1'), CLOCK, 'c2').start).toEqual({ cursor: 'c2' });
    expect(follow('time=@1').start).toEqual({ timeMs: 1000 });
  });

  it('resumes five seconds before the last event seen, whatever its parameters say', () => {
    expect(follow('back=5', '1794740005000').start).toEqual({ timeMs: 1_794_740_000_000 });
    expect(follow('back=5', '').start).toEqual({ back: 5 });
  });

  it.each(['c1', '1e3', '1.5', ' 1', '12345678901234567'])('takes no other id: %j', (id) => {
    expect(describeRefusal(() => follow('', id))).toMatch(/^CURSOR_INVALID/);
  });

  it('continues at positions, and what these do not name at a time', () => {
    const positions = encodeFollowPositions(
      new Map([
        ['a', 'x~y'],
        ['db-7:7300', 'z=|'],
      ]),
    );
    expect(follow(`positions=${encodeURIComponent(positions)}&time=1794743987000`).start).toEqual({
      cursor: positions,
      sinceMs: 1_794_743_987_000,
    });
    expect(decodeFollowPositions(positions)).toEqual(
      new Map([
        ['a', 'x~y'],
        ['db-7:7300', 'z=|'],
      ]),
    );
    for (const text of ['something else', '@', '@a', '@a=', '@sp ace=x', '@a=%', 'a=x'])
      expect(describeRefusal(() => follow(`positions=${encodeURIComponent(text)}`))).toMatch(/^CURSOR_INVALID/);
  });

  it('takes no cursor', () => {
    expect(describeRefusal(() => follow('cursor=c1'))).toBe(
      'PARAMETER_INVALID: "cursor" is a position in the logs of one node, but several are asked: start at a "time" or at "positions"',
    );
  });

  it('is read back as it was written', () => {
    const request = follow('nodes=a*&role=broker&level=warn&time=@1&raw=true');
    expect(parseFollowRequest(encodeFollow(request), CLOCK)).toEqual(request);
  });
});

describe('counts of several nodes', () => {
  it('take the conditions of a search, and a selection of nodes', () => {
    expect(parseCount('logHistogram', query('nodes=a&bucket=1m'), CLOCK)).toEqual({
      nodes: ['a'],
      bucketMs: 60_000,
      buckets: 60,
    });
    expect(parseCount('logDigest', query('role=broker&limit=3'), CLOCK)).toEqual({ role: 'broker', limit: 3 });
  });
});

describe('a request for records around a time', () => {
  it.each([
    ['time=@1', { at: { timeMs: 1000 }, beforeMs: 5000, afterMs: 5000, limit: 100 }],
    [
      'node=a&cursor=c1&before=0&after=1h&limit=7&nodes=b*',
      { at: { node: 'a', cursor: 'c1' }, beforeMs: 0, afterMs: 3_600_000, limit: 7, nodes: ['b*'] },
    ],
  ])('%s is %o', (text, expected) => {
    expect(moment(text)).toEqual(expected);
  });

  it.each(['', 'node=a', 'cursor=c1', 'node=a&cursor=c1&time=@1', 'node=a&time=@1'])(
    'that is not one moment (%j) is refused',
    (text) => {
      expect(describeRefusal(() => moment(text))).toBe('PARAMETER_INVALID: give either "node" and "cursor", or "time"');
    },
  );

  it.each(['before=x', 'after=2h', 'before=-1s', 'limit=0', 'limit=1001', 'time=x'])('with %s is refused', (text) => {
    expect(describeRefusal(() => moment(text.startsWith('time') ? text : `time=@1&${text}`))).toMatch(
      /^PARAMETER_INVALID/,
    );
  });

  it('is read back as it was written', () => {
    for (const text of ['time=@1&before=1s', 'node=a&cursor=c1&role=broker&limit=9']) {
      const request = moment(text);
      expect(parseAroundRequest(encodeAround(request), CLOCK, LIMITS)).toEqual(request);
    }
  });
});
