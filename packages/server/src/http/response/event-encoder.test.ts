import { type FollowItem, resumeCursor } from '@porthole/logs';
import { describe, expect, it } from 'vitest';
import { record } from '../testing/records.ts';
import { cursorId, EventEncoder } from './event-encoder.ts';

describe('server-sent events', () => {
  const others: FollowItem[] = [
    { type: 'rotated', family: 'a.log', from: 'a.log.1', to: 'a.log' },
    { type: 'truncated', file: 'a.log', lostBytes: null },
    { type: 'gap', family: 'a.log', reason: 'slow', bytes: 10, after: 'c1', until: 'c2' },
    { type: 'missing', family: 'a.log' },
    { type: 'end', reason: 'stopping' },
  ];

  it('of a record carry as their id its cursor, and how far it was delivered', () => {
    const item = record(7, { message: 'a\nb\r\n\nid: forged' });
    const text = new EventEncoder(cursorId).encode([item]).toString();
    expect(text).toBe(`event: record\nid: ${resumeCursor(item)}\ndata: ${JSON.stringify(item)}\n\n`);
    expect(text.split('\n')).toHaveLength(5);
  });

  it.each(others)('of type $type have no id, so that a client resumes after a record', (item) => {
    expect(new EventEncoder(cursorId).encode([item]).toString()).toBe(
      `event: ${item.type}\ndata: ${JSON.stringify(item)}\n\n`,
    );
  });

  it('of a batch stand one after the other', () => {
    const encoder = new EventEncoder(cursorId);
    const items = [record(1), ...others, record(2)];
    expect(encoder.encode(items).toString()).toBe(items.map((item) => encoder.encode([item])).join(''));
    expect(encoder.encode([])).toHaveLength(0);
  });

  it('write a record that goes to many out once', () => {
    const encoder = new EventEncoder(cursorId);
    let written = 0;
    const item = Object.assign(record(1), {
      toJSON: () => {
        written++;
        return { type: 'record' };
      },
    });
    for (let follower = 0; follower < 500; follower++) encoder.encode([item]);
    encoder.encode([item, record(2)]);
    expect(written).toBe(1);
  });
});
