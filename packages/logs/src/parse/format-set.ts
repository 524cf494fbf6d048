import { type CandidateFormat, createFormat, FormatDetector, hasPartialTimes, splitSpec } from './detect-format.ts';
import type { Format, FormatName, FormatOptions } from './format.ts';
import { compileLayoutFormat } from './formats/layout/layout-format.ts';
import type { UserFormat } from './user-format.ts';
import type { Zone } from './zone.ts';

/** The formats of a directory: those from the settings, and the built-in ones. Valid definitions only. */
export class FormatSet {
  readonly #definitions: readonly UserFormat[];
  readonly #added: readonly CandidateFormat[];
  readonly #detectors = new WeakMap<Zone, FormatDetector>();

  constructor(definitions: readonly UserFormat[] = []) {
    this.#definitions = definitions;
    this.#added = definitions.map((definition) => ({
      name: definition.name,
      ...compileLayoutFormat({ ...definition, programs: '' }),
    }));
  }

  /** All definitions as threads need them, or only the one with this name. Nothing for a built-in format. */
  forThread(name?: FormatName): UserFormat[] | undefined {
    const plain = name === undefined ? undefined : splitSpec(name).plain;
    const needed = this.#definitions.filter((definition) => plain === undefined || definition.name === plain);
    return needed.length === 0 ? undefined : needed.map((definition) => ({ ...definition, samples: [] }));
  }

  create(name: FormatName, options: FormatOptions): Format {
    return createFormat(name, options, this.#added);
  }

  detect(sample: Buffer, { zone, writtenMs }: FormatOptions): Format {
    return this.detector(zone).detect(sample, writtenMs);
  }

  /** Kept for the next file of the zone: creating the candidates takes longer than matching them. */
  detector(zone: Zone): FormatDetector {
    const detector = this.#detectors.get(zone) ?? new FormatDetector(zone, this.#added);
    this.#detectors.set(zone, detector);
    return detector;
  }

  hasPartialTimes(name: FormatName): boolean {
    return hasPartialTimes(name, this.#added);
  }
}

/** Without formats from the settings. */
export const BUILT_IN_FORMATS = new FormatSet();
