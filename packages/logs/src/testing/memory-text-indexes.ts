import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { BlockCheck } from '../scan/block/blocks.ts';
import type { KeptIndex, KeptSegment, TextIndexStore, TextKey, TextSegment } from '../scan/index-jobs.ts';
import { groupSums } from '../scan/tasks/probe.ts';

interface Kept extends KeptSegment {
  checks: readonly BlockCheck[];
}

/** Keeps segments in one file without a name, and what is known of them in memory. Closed when the test ends. */
export class MemoryTextIndexes implements TextIndexStore {
  readonly scanned: string[] = [];
  readonly fd: number;
  opens = 0;
  drops = 0;
  readonly #segments = new Map<string, Map<number, Kept>>();
  #end = 0;

  constructor() {
    const dir = mkdtempSync(join(tmpdir(), 'porthole-index-'));
    this.fd = openSync(join(dir, 'rows'), 'w+');
    rmSync(dir, { recursive: true });
    onTestFinished(() => closeSync(this.fd));
  }

  /** All segments. */
  get segments(): KeptSegment[] {
    return [...this.#segments.values()].flatMap((kept) => [...kept.values()]);
  }

  open(key: TextKey): Promise<KeptIndex | undefined> {
    const kept = this.#segments.get(JSON.stringify(key));
    if (!kept) return Promise.resolve(undefined);
    this.opens++;
    return Promise.resolve({
      fd: this.fd,
      segments: [...kept.values()],
      checks: ({ firstBlock }: KeptSegment) => Promise.resolve(kept.get(firstBlock)?.checks),
      release: () => {
        this.opens--;
      },
    });
  }

  put(key: TextKey, { rows, ...segment }: TextSegment, stamp: string): Promise<void> {
    const name = JSON.stringify(key);
    const kept = this.#segments.get(name) ?? new Map<number, Kept>();
    this.#segments.set(name, kept);
    const sums = groupSums(rows, segment.width);
    const endBlock = segment.firstBlock + segment.checks.length;
    for (const first of kept.keys()) if (first >= segment.firstBlock && first < endBlock) kept.delete(first);
    kept.set(segment.firstBlock, { ...segment, blocks: segment.checks.length, at: this.#end, sums, stamps: [stamp] });
    this.#end += writeSync(this.fd, rows, 0, rows.length, this.#end);
    return Promise.resolve();
  }

  renew(key: TextKey, firstBlocks: readonly number[], stamp: string): Promise<void> {
    const kept = this.#segments.get(JSON.stringify(key));
    for (const firstBlock of firstBlocks) {
      const segment = kept?.get(firstBlock);
      if (segment) kept?.set(firstBlock, { ...segment, stamps: [stamp, ...segment.stamps].slice(0, 4) });
    }
    return Promise.resolve();
  }

  drop(key: TextKey): Promise<void> {
    this.drops++;
    this.#segments.delete(JSON.stringify(key));
    return Promise.resolve();
  }

  noteScanned(name: string): void {
    this.scanned.push(name);
  }
}
