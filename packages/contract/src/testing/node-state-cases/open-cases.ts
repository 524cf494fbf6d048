import { expect } from 'vitest';
import { codeOf } from '../../errors/errors.ts';
import type { NodeState } from '../../node-state.ts';
import { isSameFile } from '../../responses.ts';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { catchFailure, readLatin1 } from './responses.ts';
import { ODD_NAME, sharedFiles } from './shared-files.ts';

/** The result of opening a file, reading and closing it. */
async function readPart(node: NodeState, file: string, start: number, end: number): Promise<string> {
  const log = await node.openLog({ file });
  try {
    return await readLatin1(log.read(start, end));
  } finally {
    await log.close();
  }
}

/** Byte ranges of a file as it is on disk. */
export const OPEN_CASES: readonly NodeStateCase[] = [
  nodeCase({
    name: 'an opened log has its name, size, time and entity tag',
    run: async (node) => {
      const opened = [];
      for (const file of ['broker.log', 'broker.log.2.gz', 'empty.log', 'bytes.log', ODD_NAME]) {
        const log = await node.openLog({ file });
        const { name, sizeBytes, modifiedMs, etag } = log;
        opened.push({ name, sizeBytes, modifiedMs, etag, bytes: await readLatin1(log.read(0, sizeBytes)) });
        await log.close();
      }
      return opened;
    },
    check: (opened) => {
      expect(opened.at(-1)).toMatchObject({ name: ODD_NAME });
      expect(opened.every(({ sizeBytes, bytes }) => sizeBytes === bytes.length)).toBe(true);
    },
  }),
  nodeCase({
    name: 'the text of an archive is read by offset',
    run: async (node) => {
      const log = await node.openLog({ file: 'broker.log.2.gz', text: true });
      const all = await readLatin1(log.read(0, log.sizeBytes));
      const part = await readLatin1(log.read(3, 9));
      await log.close();
      return { name: log.name, sizeBytes: log.sizeBytes, modifiedMs: log.modifiedMs, etag: log.etag, all, part };
    },
    check: ({ all, part, sizeBytes }) => {
      expect(all.length).toBe(sizeBytes);
      expect(part).toBe(all.slice(3, 9));
      expect(all).toContain('\n');
    },
  }),
  nodeCase({
    name: 'an archive that cannot be searched for secrets is not served as it is',
    run: (node) => node.openLog({ file: 'damaged.log.1.gz' }).then(() => 'opened', codeOf),
    check: (response) => expect(response).toBe('RAW_HAS_SECRETS'),
  }),
  ...(
    [
      [0, 10],
      [3, 4],
      [100_000, 350_000],
      [400_000, Number.MAX_SAFE_INTEGER],
      [-5, 5],
      [7, 7],
      [9, 8],
      [500_113, 500_114],
      [1_000_000, 2_000_000],
    ] as const
  ).map(([start, end]) =>
    nodeCase({
      name: `bytes ${start} to ${end} of an opened log are those, as far as it has them`,
      run: (node) => readPart(node, 'long.log', start, end),
      check: (bytes) =>
        expect(bytes).toBe(
          Buffer.from(sharedFiles()['long.log'] ?? '')
            .subarray(Math.max(0, start), Math.max(0, end))
            .toString('latin1'),
        ),
    }),
  ),
  nodeCase({
    name: 'an opened log is read several times, in parts, also at the same time',
    run: async (node) => {
      const log = await node.openLog({ file: 'many.log' });
      const both = await Promise.all([readLatin1(log.read(0, 70)), readLatin1(log.read(70_000, 70_070))]);
      const again = await readLatin1(log.read(10, 70));
      await log.close();
      await log.close();
      return [...both, again];
    },
    check: ([first, , again]) => expect(first?.slice(10)).toBe(again),
  }),
  nodeCase({
    name: 'an opened log that is closed can no longer be read',
    run: async (node) => {
      const log = await node.openLog({ file: 'text.log' });
      await log.close();
      return catchFailure(() => readLatin1(log.read(0, 5)));
    },
    check: (failure) => expect(failure).toMatchObject({ message: '"text.log" is closed' }),
  }),
  nodeCase({
    name: 'an opened log ends where it ended when it was opened, even if it grows',
    files: { 'a.log': 'one\n' },
    run: async (node, dir) => {
      const log = await node.openLog({ file: 'a.log' });
      dir.append('a.log', 'two\n');
      const parts = [
        await readLatin1(log.read(0, 100)),
        await readLatin1(log.read(2, 100)),
        await readLatin1(log.read(4, 8)),
      ];
      const later = await node.openLog({ file: 'a.log' });
      const facts = { sizes: [log.sizeBytes, later.sizeBytes], same: isSameFile(log.etag, later.etag) };
      await Promise.all([log.close(), later.close()]);
      return { ...facts, parts, tagsDiffer: log.etag !== later.etag };
    },
    check: (response) =>
      expect(response).toEqual({ sizes: [4, 8], same: true, parts: ['one\n', 'e\n', ''], tagsDiffer: true }),
  }),
  nodeCase({
    name: 'an opened log whose name now refers to another file is never read as that one',
    files: { 'a.log': 'the old text\n' },
    run: async (node, dir) => {
      const log = await node.openLog({ file: 'a.log' });
      dir.write('b.log', 'a newer text\nand more of it\n');
      dir.rename('b.log', 'a.log');
      const read = await catchFailure(() => readLatin1(log.read(0, 100)));
      const later = await node.openLog({ file: 'a.log' });
      const same = isSameFile(log.etag, later.etag);
      await Promise.all([log.close(), later.close()]);
      return { read, same };
    },
    check: ({ read, same }) => {
      expect(same).toBe(false);
      expect(['the old text\n', 'PRECONDITION_FAILED']).toContain('result' in read ? read.result : read.code);
    },
    differs: {
      http: 'holds no file open at the node between two requests: it refuses what the local node can still read',
      grpc: 'holds no file open at the node between two calls: it refuses what the local node can still read',
    },
  }),
  nodeCase({
    name: 'an opened log that was truncated meanwhile never looks complete',
    files: { 'a.log': 'one\ntwo\nthree\n' },
    run: async (node, dir) => {
      const log = await node.openLog({ file: 'a.log' });
      dir.truncate('a.log', 6);
      const reads = [
        await catchFailure(() => readLatin1(log.read(0, 4))),
        await catchFailure(() => readLatin1(log.read(4, 14))),
        await catchFailure(() => readLatin1(log.read(8, 14))),
      ];
      await log.close();
      return reads;
    },
    check: ([before, across, behind]) => {
      expect(before).toEqual({ result: 'one\n' });
      for (const cut of [across, behind]) expect(cut).toMatchObject({ code: 'LOG_FILE_TRUNCATED' });
    },
  }),
];
