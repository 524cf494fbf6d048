import { describe, expect, test } from 'vitest';
import { drawnText, hiddenBytes, oneLine, recordLine, rowLine, SHOWN_CHARACTERS, visibleText } from './record-text.ts';

const record = {
  type: 'record',
  node: 'broker-1',
  file: 'a.log',
  offset: 0,
  bytes: 100,
  cursor: 'c',
  atMs: Date.UTC(2026, 10, 15, 10, 41, 6, 214),
  timeMs: 0,
  level: 'ERROR',
  source: 'kv/job.go:175',
  tags: ['KV', 'Compaction'],
  message: 'it failed',
  context: { shard: 31 },
} as const;
const fields = { ...record, tags: [...record.tags] };

describe('displayed text', () => {
  test('control characters become visible, tabs and line ends stay', () => {
    expect(visibleText('a\u0000b\u001bc\td\ne\u007ff\u0085')).toBe('a␀b␛c\td\ne␡f�');
  });

  test('bidirectional control characters become visible', () => {
    expect(visibleText('user\u202etxt.exe\u2066')).toBe('user⇄txt.exe⇄');
  });

  test('zero-width characters become visible, those of an emoji stay', () => {
    expect(visibleText('a\u200bb\ufeffc\u00add\u2060e\u{e0041}f\u3164g')).toBe('a◌b◌c◌d◌e◌◌f◌g');
    expect(visibleText('\u2028\u2029\ud800')).toBe('◌◌�');
    expect(visibleText('👨\u200d👩\u200d👧 ❤\ufe0f x\ufe0f \u200d')).toBe('👨\u200d👩\u200d👧 ❤\ufe0f x◌ ◌');
  });

  test('every character is replaced by one character, so that offsets stay valid', () => {
    const odd = '\u0001\u202e\u200fü\u0085x';
    expect(visibleText(odd)).toHaveLength(odd.length);
  });

  test('line ends become a symbol in a single-line row', () => {
    expect(oneLine('a\r\nb\nc')).toBe('a↵b↵c');
  });

  test('only the start of a long text is rendered', () => {
    expect(drawnText({ message: 'x'.repeat(9000) })).toHaveLength(SHOWN_CHARACTERS);
  });
});

describe('hidden bytes', () => {
  test('are zero for a short record', () => {
    expect(hiddenBytes(fields)).toBe(0);
  });

  test('are the rest of a long one', () => {
    expect(hiddenBytes({ message: 'x'.repeat(9000), bytes: 9100 })).toBe(9000 - SHOWN_CHARACTERS);
  });

  test('are counted from the file for a truncated record', () => {
    expect(hiddenBytes({ message: 'x', bytes: 20_000_000, cut: true })).toBe(20_000_000 - SHOWN_CHARACTERS);
  });
});

describe('a record as a line', () => {
  test('has its columns in the order of the file', () => {
    expect(recordLine(fields, { withNode: false })).toBe(
      '2026-11-15T10:41:06.214Z ERROR kv/job.go:175 [KV] [Compaction] it failed {"shard":31}',
    );
  });

  test('includes its node if there are several', () => {
    expect(recordLine(fields, { withNode: true })).toContain('Z broker-1 ERROR');
  });

  test('omits missing columns', () => {
    const bare = {
      type: 'record',
      node: 'n',
      file: 'f',
      offset: 0,
      bytes: 1,
      cursor: 'c',
      message: 'only this',
    } as const;
    expect(recordLine(bare, { withNode: false })).toBe('only this');
  });

  test('a line that is not a record stays as it is', () => {
    const gap = {
      kind: 'gap',
      key: 'g',
      node: null,
      text: '214 lines skipped',
      isLoading: false,
    } as const;
    expect(rowLine(gap, { withNode: true })).toBe('--- 214 lines skipped ---');
  });
});
