import type { EngineOptions } from './engine.ts';
import type { LogTree } from './file/tree.ts';
import type { Zone } from './parse/zone.ts';
import type { Scrubbing } from './scrub/scrubbing.ts';

export interface LogDirOptions extends EngineOptions {
  /** Time zone of the timestamps in the files. */
  zone?: Zone;
  /** Name patterns, with `*` and `?`, of logs to hide, including their rotated files. */
  hidden?: readonly string[];
  /** Whether files in directories below are logs, too, and where links may lead. */
  tree?: LogTree | undefined;
  /** What is masked in the text of the files, before it is returned or searched. */
  scrubbing?: Scrubbing;
}
