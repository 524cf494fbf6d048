import type { EngineOptions } from './engine.ts';
import type { LogTree } from './file/tree.ts';
import type { Zone } from './parse/zone.ts';
import type { Scrubbing } from './scrub/scrubber.ts';
import type { DeletedRecords } from './search/files/open-family.ts';
import type { Selection } from './search/files/selected-families.ts';

export interface LogDirOptions extends EngineOptions {
  /** Time zone of the timestamps in the files. */
  zone?: Zone;
  /** Name patterns, with `*` and `?`, of logs to hide, including their rotated files. */
  hidden?: readonly string[];
  /** Whether files in directories below are logs, too, and where links may lead. */
  tree?: LogTree | undefined;
  /** What of the selected logs and time range is no longer on disk, as far as that is known. */
  deleted?: ((selection: Selection) => readonly DeletedRecords[]) | undefined;
  /** What is masked in the text of the files, before it is returned or searched. */
  scrubbing?: Scrubbing;
}
