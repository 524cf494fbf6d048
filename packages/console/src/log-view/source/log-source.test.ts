import { describe, expect, it } from 'vitest';
import { recordKey } from './log-source.ts';

const cursor = (head: string, position: string, file: string) =>
  `${head}.${position}.${Buffer.from(file).toString('base64url')}`;

const SHORT = `${'0'.repeat(15)}a.dw`;

const LONG = `${'0'.repeat(15)}b.sg`;

describe('the key of a record', () => {
  it('is the same while its file grows, after it was rotated, and with what was delivered', () => {
    const keys = [
      cursor(SHORT, '5k.1x.1s', 'broker.log'),
      cursor(LONG, '5k.1x.1s', 'broker.log.1'),
      cursor(LONG, '5k.1x.1s', 'broker-2026-11-15.log.gz'),
      `${cursor(LONG, '5k.1x.1s', 'broker.log')}.1s.mwhnyu.whb`,
    ].map((text) => recordKey({ node: 'n1', cursor: text }));
    expect(new Set(keys).size).toBe(1);
  });

  it('differs by position, log and node', () => {
    const keys = [
      { node: 'n1', cursor: cursor(LONG, '5k.1x.1s', 'broker.log') },
      { node: 'n2', cursor: cursor(LONG, '5k.1x.1s', 'broker.log') },
      { node: 'n1', cursor: cursor(LONG, '5l.1x.1s', 'broker.log') },
      { node: 'n1', cursor: cursor(LONG, '5k.1x.1s', 'storage.log') },
    ].map(recordKey);
    expect(new Set(keys).size).toBe(4);
  });

  it('of an unknown cursor format is the cursor itself', () => {
    expect(recordKey({ node: 'n1', cursor: 'x.y' })).toBe('n1 x.y');
  });
});
