import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeState } from '@porthole/contract';
import { PortholeError, searchItems } from '@porthole/contract';
import { createZone, WorkerPool } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import type { FollowItem, FoundRecord } from '@porthole/logs/types';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { renderView } from '../testing/fake-lindb.ts';
import { ContractNode } from './contract-node.ts';

const NAME = 'lind-broker.log';

type Step =
  | { do: 'write'; lines: number }
  /** As the one before, with the last line in two parts, asked for in between. */
  | { do: 'half' }
  /** Written between the list and the view. */
  | { do: 'race'; lines: number }
  | { do: 'rotate'; before: number; after: number }
  | { do: 'truncate' }
  | { do: 'flood' };

/** A disk with one log, and what LinDB sends of it; lines are numbered, so that each is known wherever it appears. */
class Disk {
  readonly files = new Map<string, Buffer>();
  written = 0;
  rotations = 0;
  raced = 0;
  /** Lines that were read half written, and those before them. */
  readonly halves = new Set<number>();

  line(): string {
    const time = new Date(Date.UTC(2026, 10, 15) + this.written * 10).toISOString().replace('T', ' ').slice(0, -1);
    return `${time}\tINFO\ta.go:1\t${this.written++}\n`;
  }

  write(count: number): void {
    let text = '';
    for (let number = 0; number < count; number++) text += this.line();
    this.append(text);
  }

  append(text: string): void {
    this.files.set(NAME, Buffer.concat([this.files.get(NAME) ?? Buffer.alloc(0), Buffer.from(text)]));
  }

  rotate(): void {
    const stamp = new Date(Date.UTC(2026, 10, 15, 0, 0, this.rotations++)).toISOString().replaceAll(':', '-');
    this.files.set(`lind-broker-${stamp.slice(0, -1)}.log`, this.files.get(NAME) ?? Buffer.alloc(0));
    this.files.set(NAME, Buffer.alloc(0));
  }

  node(): Pick<NodeState, 'config' | 'listLogs' | 'viewLog'> {
    return {
      config: () => Promise.reject(new PortholeError('INTERNAL', 'not asked for')),
      listLogs: async () => [...this.files].map(([name, { length: size }]) => ({ name, size })),
      viewLog: async ({ file, sizeBytes }) => {
        if (file === NAME && this.raced > 0) {
          this.write(this.raced);
          this.raced = 0;
        }
        const body = renderView(this.files.get(file) ?? Buffer.alloc(0), sizeBytes);
        const chunks = (async function* one() {
          yield body;
        })();
        return { sizeBytes: undefined, chunks, close: async () => {} };
      },
    };
  }
}

/** Copies go below a directory of this test, so that what is left of them shows. */
function ownTempDir(): string {
  const { TMPDIR } = process.env;
  const dir = mkdtempSync(join(tmpdir(), 'porthole-mirror-'));
  process.env.TMPDIR = dir;
  onTestFinished(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

const numberOf = ({ message }: FoundRecord) => Number(message);

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('write' as const), lines: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ do: fc.constant('half' as const) }),
  fc.record({ do: fc.constant('race' as const), lines: fc.integer({ min: 1, max: 30 }) }),
  fc.record({
    do: fc.constant('rotate' as const),
    before: fc.integer({ min: 0, max: 10 }),
    after: fc.integer({ min: 0, max: 10 }),
  }),
  fc.record({ do: fc.constant('truncate' as const) }),
  fc.record({ do: fc.constant('flood' as const) }),
);

it('whatever happens to a log, nothing is emitted twice or out of order, and what is missing is reported', async () => {
  const temporary = ownTempDir();
  const threads = new WorkerPool(0, { scansHere: true });
  onTestFinished(() => threads.close());
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const disk = new Disk();
      disk.write(20);
      // So small that files are divided again and again.
      const limits = { tailBytes: 20_000, maxFileBytes: 3000 };
      const node = new ContractNode({
        node: disk.node(),
        zone: createZone('UTC'),
        threads,
        limits,
        pollMs: 5,
        freshMs: 2,
      });
      const controller = new AbortController();
      const items: FollowItem[] = [];
      let isOpen = false;
      const following = (async () => {
        for await (const batch of node.followLogs({ start: 'end' }, { signal: controller.signal })) {
          isOpen = true;
          items.push(...batch);
        }
      })();
      try {
        await eventually(() => expect(isOpen).toBe(true));
        for (const happening of steps) await happen(disk, happening, node);
        disk.write(2);
        const emitted = () => items.flatMap((item) => (item.type === 'record' ? [numberOf(item)] : []));
        await eventually(() => expect(emitted().at(-1)).toBe(disk.written - 1));
        // A line that was read half written may be split in two, as in any log; no other is.
        const numbers = emitted().filter((number) => !Number.isNaN(number) && !disk.halves.has(number));
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
        const missing = disk.written - 20 - [...disk.halves].filter((number) => number >= 20).length - numbers.length;
        const gaps = items.filter(({ type }) => type === 'gap').length;
        expect(missing === 0 || gaps > 0).toBe(true);

        // A search has the newest part of the file without a hole.
        const found: number[] = [];
        for await (const batch of searchItems(node, {
          order: 'newest',
          limit: 10_000,
          before: 0,
          after: 0,
          src: [`=${NAME}`],
        }))
          for (const item of batch) if (item.type === 'record') found.push(numberOf(item));
        const whole = found.filter((number) => !Number.isNaN(number) && !disk.halves.has(number));
        const newest = Array.from({ length: disk.written }, (_unused, place) => disk.written - 1 - place);
        expect(whole).toEqual(newest.filter((number) => !disk.halves.has(number)).slice(0, whole.length));
        const lines = (disk.files.get(NAME)?.toString() ?? '').split('\n').length - 1;
        expect(whole.length).toBeLessThan(lines);
      } finally {
        controller.abort();
        await following;
        await node.close();
      }
      expect(readdirSync(temporary)).toEqual([]);
    }),
    { numRuns: runs(10) },
  );
});

async function happen(disk: Disk, happening: Step, node: ContractNode): Promise<void> {
  if (happening.do === 'write') disk.write(happening.lines);
  if (happening.do === 'half') {
    // Half a timestamp is none: until the rest is there it reads as a continuation of the line before.
    disk.halves.add(disk.written - 1).add(disk.written);
    const line = disk.line();
    disk.append(line.slice(0, 20));
    await node.logFiles();
    disk.append(line.slice(20));
  }
  if (happening.do === 'race') {
    disk.write(1);
    disk.raced = happening.lines;
  }
  if (happening.do === 'rotate') {
    disk.write(happening.before);
    disk.rotate();
    disk.write(happening.after);
  }
  if (happening.do === 'truncate') disk.files.set(NAME, Buffer.alloc(0));
  if (happening.do === 'flood') disk.write(1500);
  await node.logFiles();
  // Nothing was viewed meanwhile: written now, not into a line that is half written.
  disk.write(disk.raced);
  disk.raced = 0;
}
