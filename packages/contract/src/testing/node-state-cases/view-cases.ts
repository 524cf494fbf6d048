import { expect } from 'vitest';
import type { NodeState } from '../../node-state.ts';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { catchFailure, type ReadBytes, readBytes } from './responses.ts';
import { ODD_NAME, sharedFiles } from './shared-files.ts';

async function view(node: NodeState, file: string, sizeBytes: number): Promise<ReadBytes> {
  return readBytes(await node.viewLog({ file, sizeBytes }));
}

/** The most recent part of a file. */
export const VIEW_CASES: readonly NodeStateCase[] = [
  ...Object.keys(sharedFiles())
    .filter((file) => !file.startsWith('damaged'))
    .map((file) =>
      nodeCase({
        name: `a view of all of ${JSON.stringify(file.length < 60 ? file : `${file.slice(0, 10)}...`)}`,
        run: (node) => view(node, file, Number.MAX_SAFE_INTEGER),
        check: ({ sizeBytes, bytes }) => {
          expect(sizeBytes).toBe(bytes.length);
          const content = Buffer.from(sharedFiles()[file] ?? '').toString('latin1');
          if (!file.endsWith('.gz')) expect(bytes).toBe(content);
        },
      }),
    ),
  ...[1, 2, 3, 100, 101, 150, 1000].map((sizeBytes) =>
    nodeCase({
      name: `a view of ${sizeBytes} bytes is cut to whole lines, or to characters where there is none`,
      run: async (node) => {
        const files = ['broker.log', 'broker.log.2.gz', 'crlf.log', 'bytes.log', 'long.log', 'open.log', ODD_NAME];
        return Promise.all(files.map((file) => view(node, file, sizeBytes)));
      },
      check: (views) => {
        for (const { bytes } of views) {
          expect(bytes.length).toBeGreaterThan(0);
          expect(bytes.length).toBeLessThanOrEqual(sizeBytes);
        }
      },
    }),
  ),
  nodeCase({
    name: 'a view that is closed before, while and after it is read releases everything',
    run: async (node) => {
      const unread = await node.viewLog({ file: 'long.log', sizeBytes: 400_000 });
      await unread.close();
      await unread.close();
      const left = await node.viewLog({ file: 'long.log', sizeBytes: 400_000 });
      let some = 0;
      for await (const chunk of left.chunks) {
        some = chunk.length;
        break;
      }
      await left.close();
      return { some: some > 0, again: (await view(node, 'text.log', 100)).bytes };
    },
    check: ({ some, again }) => expect({ some, again: again.length }).toEqual({ some: true, again: 33 }),
  }),
  nodeCase({
    name: 'a log that shrinks while it is read never looks complete',
    files: { 'a.log': '' },
    run: async (node, dir) => {
      dir.truncate('a.log', 64 * 1024 ** 2);
      const response = await node.viewLog({ file: 'a.log', sizeBytes: 64 * 1024 ** 2 });
      const failure = await catchFailure(async () => {
        for await (const _ of response.chunks) dir.truncate('a.log', 1000);
      });
      await response.close();
      return { sizeBytes: response.sizeBytes, failure };
    },
    check: ({ failure }) => expect(failure).not.toHaveProperty('result'),
    differs: { http: 'a body that is cut carries no code: the client can only report that the response is not whole' },
  }),
];
