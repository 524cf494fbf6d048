import type { FormatName, FormatOptions } from './format.ts';
import type { ShapedFormat } from './formats/define-format.ts';
import { compileLayoutFormat, hasPartialTime, type LayoutDefinition } from './formats/layout/layout-format.ts';
import type { Zone } from './zone.ts';

export type FormatCreator = (options: FormatOptions) => ShapedFormat;

/** A format that is tried on files. */
export interface CandidateFormat {
  name: FormatName;
  /** Its times may lack a year or a date. */
  isPartial: boolean;
  create: FormatCreator;
}

/** Compiled when it is first needed: most files are recognised before most formats are tried. */
export function lazyLayout<Name extends string>(
  definition: LayoutDefinition & { name: Name },
): CandidateFormat & { name: Name } {
  let compiled: ReturnType<typeof compileLayoutFormat> | undefined;
  const create: FormatCreator = (options) => {
    compiled ??= compileLayoutFormat(definition);
    return compiled.create(options);
  };
  return { name: definition.name, isPartial: hasPartialTime(definition), create };
}

/** Every format in its order, created when it is first tried: most files are recognised by one of the first. */
export class LazyFormats implements Iterable<ShapedFormat> {
  readonly #zone: Zone;
  readonly candidates: readonly CandidateFormat[];
  readonly #created: (ShapedFormat | undefined)[] = [];
  /** Positions of those created that depend on when the file was written. */
  #partial: number[] = [];
  #writtenMs = Number.NaN;

  constructor(zone: Zone, candidates: readonly CandidateFormat[]) {
    this.#zone = zone;
    this.candidates = candidates;
  }

  *[Symbol.iterator](): Iterator<ShapedFormat> {
    for (const [index, { isPartial, create }] of this.candidates.entries()) {
      let format = this.#created[index];
      if (!format) {
        format = create({ zone: this.#zone, writtenMs: this.#writtenMs });
        this.#created[index] = format;
        if (isPartial) this.#partial.push(index);
      }
      yield format;
    }
  }

  /** Only times without a year or date depend on it. */
  setWritten(writtenMs: number): void {
    if (writtenMs === this.#writtenMs) return;
    this.#writtenMs = writtenMs;
    for (const index of this.#partial) this.#created[index] = undefined;
    this.#partial = [];
  }
}
