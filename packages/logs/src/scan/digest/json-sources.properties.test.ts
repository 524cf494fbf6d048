import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createZone } from '../../parse/zone.ts';
import { randomJsonObject } from '../../testing/random-json.ts';
import { slowDigest } from '../../testing/slow-counts.ts';
import { readFamilyRecords } from '../../testing/slow-logs.ts';
import { openDir } from '../../testing/temp-dir.ts';

const ZONE = createZone('UTC');

const source = fc.constantFrom(
  ...['"caller":"a.go:1"', '"Source":"b.go:22"', '"caller":"none"', '"caller":"a:1","source":"b:2"', '"caller":null'],
  ...[
    '"caller":{"file":"c.go","line":3}',
    '"caller":"d\\u003a4"',
    '"c\\u0061ller":"e:5"',
    '"source":"\u00e9:6"',
    '"x":1',
  ],
);
const rest = fc.oneof(
  fc.constantFrom('"msg":"served 5 queries"', '"msg":"a=1","b":{"caller":"x:1"}'),
  randomJsonObject.map((text) => `"inner":${text}`),
);
const line = fc
  .tuple(fc.nat(50), fc.constantFrom('info', 'warn'), source, rest, fc.constantFrom('}', ' }', '} x', '}\nmore', '}\r'))
  .map(([second, level, from, more, end]) => {
    const time = new Date(Date.UTC(2026, 5, 1) + second * 1000).toISOString();
    return `{"ts":"${time}","level":"${level}",${from},${more}${end}\n`;
  });

test('a digest of JSON records that are not decoded has the groups of decoded ones', async () => {
  const dir = tempDir();
  const logs = openDir(dir, { zone: ZONE });
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 30 }), async (lines) => {
      // Usual lines first, by which the format is detected.
      const text = Buffer.from(
        `{"ts":"2026-06-01T00:00:00Z","level":"info","msg":"start"}\n`.repeat(20) + lines.join(''),
      );
      const name = `log${number++}.log`;
      writeFileSync(join(dir, name), text);
      const records = readFamilyRecords({ name, files: [{ name, text, writtenMs: Date.now() }] }, ZONE);
      const { groups } = await logs.digest({ src: [`=${name}`], limit: 1000 });
      const shown = (all: readonly { level: unknown; source: unknown; shape: unknown; count: number }[]) =>
        all.map(({ level, source: from, shape, count }) => JSON.stringify([level, from, shape, count])).sort();
      expect(shown(groups)).toEqual(shown(slowDigest(records, {})));
    }),
    { numRuns: runs(6) },
  );
});
