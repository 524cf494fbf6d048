import { doubtedStamp } from '../../block-index/live-texts.ts';
import { blockAt } from '../../scan/block/blocks.ts';
import type { ScanFile } from '../../scan/block/scan-file.ts';
import type { KeptIndex, KeptSegment, ProbeJob, TextKey } from '../../scan/index-jobs.ts';
import { noteProblem } from '../files/open-family.ts';
import type { OpenFile } from '../files/open-file.ts';
import type { FamilyTask } from './file-parts.ts';
import type { Bounds } from './narrow-bounds.ts';

/** Smaller files are not worth an index. */
const MIN_INDEXED_BYTES = 4 * 1024 ** 2;

/** Segments are looked up as the scan reaches them, more each time: the first results must not wait for the last one. */
const PROBE_GROWTH = 4;
const MAX_PROBED = 64;

/**
 * Which blocks of a file may contain the texts that the filter requires, by the text index. Only segments count that were
 * made of the file as it is, or compared with it: proven by its stamp, or while it is being written as `LiveTexts` does.
 */
export class TextBlocks {
  readonly #task: FamilyTask;
  readonly #opened: OpenFile;
  readonly #kept: KeptIndex;
  readonly #key: TextKey;
  /** Those that are still to be looked up, in scan order. */
  #segments: KeptSegment[];
  readonly #bits = new Map<number, { segment: KeptSegment; bits: Uint8Array }>();
  #most = 1;

  private constructor(
    task: FamilyTask,
    opened: OpenFile,
    index: { kept: KeptIndex; key: TextKey; segments: KeptSegment[] },
  ) {
    this.#task = task;
    this.#opened = opened;
    this.#kept = index.kept;
    this.#key = index.key;
    this.#segments = index.segments;
  }

  /** `undefined`: nothing is known of the file. The caller closes it. */
  static async open(task: FamilyTask, opened: OpenFile, bounds: Bounds): Promise<TextBlocks | undefined> {
    const { file } = bounds;
    const { textIndex } = task.scanContext;
    if (!textIndex || task.matcher.conditions.length === 0) return undefined;
    const key = task.scanContext.textKey(opened, file);
    const kept = await textIndex.open(key);
    const segments = kept ? await trueSegments(task, opened, { file, kept, key }) : [];
    if (kept && segments.length > 0) {
      const wanted = segments.filter((segment) => isWithin(segment, bounds));
      wanted.sort((a, b) => (task.newestFirst ? b.firstBlock - a.firstBlock : a.firstBlock - b.firstBlock));
      return new TextBlocks(task, opened, { kept, key, segments: wanted });
    }
    kept?.release();
    if (file.textBytes >= MIN_INDEXED_BYTES) textIndex.noteScanned(opened.name);
    return undefined;
  }

  /** Whether a block that was looked up may contain the texts. */
  readonly mayContain = (block: number): boolean => {
    const known = this.#bits.get(this.#partAt(block));
    if (!known) return true;
    const column = block - known.segment.firstBlock;
    return column >= known.segment.blocks || (((known.bits[column >> 3] ?? 0) >> (column & 7)) & 1) === 1;
  };

  /** Looks up blocks `[first, end)`, the next ones in scan order. */
  async lookUp(first: number, end: number): Promise<void> {
    const isNeeded = ({ firstBlock, blocks }: KeptSegment) => firstBlock < end && firstBlock + blocks > first;
    while (this.#segments.some(isNeeded) && !this.#task.flag.isSet) {
      await this.#probe(this.#segments.splice(0, this.#most));
      this.#most = Math.min(this.#most * PROBE_GROWTH, MAX_PROBED);
    }
  }

  get #partBlocks(): number {
    return this.#task.scanContext.live.limits.partBlocks;
  }

  #partAt(block: number): number {
    return Math.floor(block / this.#partBlocks);
  }

  close(): void {
    this.#kept.release();
  }

  async #probe(segments: readonly KeptSegment[]): Promise<void> {
    const { scanContext, matcher, flag, family } = this.#task;
    const job: ProbeJob = {
      kind: 'probe',
      filter: matcher.filter,
      format: this.#opened.format,
      fd: this.#kept.fd,
      // Only what the thread needs: all of it is copied.
      segments: segments.map(({ at, width, sums }) => ({ at, width, sums })),
    };
    try {
      const { bits, isDamaged } = await scanContext.pool.run(job, flag);
      segments.forEach((segment, index) => {
        const found = bits[index];
        const { firstBlock, blocks } = segment;
        for (let block = firstBlock; found && block < firstBlock + blocks; block += this.#partBlocks)
          this.#bits.set(this.#partAt(block), { segment, bits: found });
      });
      if (isDamaged) await scanContext.textIndex?.drop(this.#key);
      // The filter requires no text, or the index is damaged: the others would exclude nothing either.
      if (bits.includes(null)) this.#segments = [];
    } catch (error) {
      // Then all of it is scanned, which fails in the same way if the failure persists.
      this.#segments = [];
      if (!flag.isSet) noteProblem(family.problems, this.#opened.name, error);
    }
  }
}

/**
 * Those that are proven by the stamp, and those that the file has only grown since, unless a sample shows that it was
 * changed in another way.
 */
async function trueSegments(
  { scanContext, family, flag }: FamilyTask,
  opened: OpenFile,
  { file, kept, key }: { file: ScanFile; kept: KeptIndex; key: TextKey },
): Promise<KeptSegment[]> {
  const isProven = ({ stamps }: KeptSegment) => file.stamp !== undefined && stamps.includes(file.stamp);
  const proven = kept.segments.filter(isProven);
  if (file.packedMap || proven.length === kept.segments.length) return proven;
  const { handle, name } = opened;
  const live = scanContext.live.see(opened);
  const others = kept.segments.filter((segment) => !isProven(segment));
  let trusted = others.filter((segment) => live.trusts(segment, handle));
  try {
    const blocks = trusted.length > 0 && (await live.sample(kept, trusted));
    if (!blocks) trusted = [];
    else if ((await scanContext.pool.run({ kind: 'verify', file, blocks }, flag)).stale.length > 0) live.doubt();
  } catch (error) {
    // What is not proven is scanned, which fails in the same way if the failure persists.
    if (!flag.isSet) noteProblem(family.problems, name, error);
    return proven;
  }
  if (flag.isSet) return proven;
  trusted = trusted.filter((segment) => live.trusts(segment, handle));
  for (const segment of others) {
    const stamp = trusted.includes(segment) ? undefined : doubtedStamp(segment, handle);
    if (stamp !== undefined) await scanContext.textIndex?.renew(key, [segment.firstBlock], stamp);
  }
  return [...proven, ...trusted];
}

function isWithin({ firstBlock, blocks }: KeptSegment, { startBytes, endBytes }: Bounds): boolean {
  return firstBlock <= blockAt(endBytes - 1) && firstBlock + blocks > blockAt(startBytes);
}
