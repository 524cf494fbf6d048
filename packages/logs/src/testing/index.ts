/** What the tests of other packages use of this one: helpers, and internals that have no public entry. Not published. */
export { encodeMark } from '../cursor/cursor.ts';
export { joinRecords } from '../follow/followed-text.ts';
export { seededRandom } from '../follow/testing/seeded-random.ts';
export { buildGzMap } from '../gzip/gz-map.ts';
export { gzFile } from '../gzip/testing/gz-file.ts';
export { BUILT_IN_FORMATS, createFormat, FORMAT_NAMES, FormatDetector } from '../parse/detect-format.ts';
export { LEVELS_BY_RANK, readLevelWord } from '../parse/level.ts';
export { parseTimestamp } from '../parse/timestamp.ts';
export { createZone } from '../parse/zone.ts';
export { RegexPrefilter } from '../regex/prefilter.ts';
export { ENCODERS } from '../scrub/testing/encoders.ts';
export { bundleProgram } from './bundle-program.ts';
export { eventually } from './eventually.ts';
export { FILTER_CASES, FILTERED_FILES, recordSecond } from './filter-cases.ts';
export {
  FIXTURE_WRITTEN_MS,
  FIXTURE_ZONE,
  FIXTURES,
  formatTable,
  readLnavVerdicts,
  readTruth,
} from './formats/format-table.ts';
export { judgeCorpus } from './formats/head-corpus.ts';
export { LOG_SYSTEMS } from './formats/systems.ts';
export { jsonTokens, randomJsonObject } from './random-json.ts';
export { LogWriter, logSpec, writeFamilies } from './random-logs.ts';
export { type FilterSpec, filterSpec, toFilter } from './random-queries.ts';
export { searchItems } from './run-search.ts';
export { runUnprivileged } from './run-unprivileged.ts';
export { SHARED_THREADS } from './shared-threads.ts';
export { SLOW_REGEX, slowText } from './slow-regex.ts';
export { openBelow } from './temp-dir.ts';
export { scaled } from './timeout-scale.ts';
