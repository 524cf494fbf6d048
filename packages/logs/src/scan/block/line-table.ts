import type { ScanKernel } from '../../kernel/scan-kernel.ts';
import type { LineHead } from '../../parse/format.ts';
import { type RecordTable, TableRoom } from './blocks.ts';

/** The records of a block in a format whose lines are examined one by one. */
export class LineTable {
  readonly #kernel: ScanKernel;
  readonly #headAt: (line: number, lineEnd: number | undefined) => LineHead | undefined;
  readonly #room = new TableRoom();

  /** `headAt`: the head of a line, if it starts a record. */
  constructor(kernel: ScanKernel, headAt: (line: number, lineEnd: number | undefined) => LineHead | undefined) {
    this.#kernel = kernel;
    this.#headAt = headAt;
  }

  /** Those that start in `[first, end)`, `first` being a line start. Without where the last one ends. */
  fill(first: number, end: number): RecordTable {
    const room = this.#room;
    let count = 0;
    const add = (line: number, lineEnd?: number) => {
      // An empty line starts no record in any format; a hole is read as many.
      const head = lineEnd === line + 1 ? undefined : this.#headAt(line, lineEnd);
      if (!head) return;
      room.ensure(count + 1);
      room.starts[count] = line;
      room.times[count] = head.timeMs;
      room.ranks[count] = head.rank;
      count++;
    };
    const lines = this.#kernel.lineStarts(first, end);
    let line = first;
    for (let index = 0; index <= lines && line < end; index++) {
      const next = index < lines ? this.#kernel.lines[index] : undefined;
      add(line, next);
      line = next ?? end;
    }
    return { count, starts: room.starts, times: room.times, ranks: room.ranks, end: 0, firstContinues: false };
  }
}
