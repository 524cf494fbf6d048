/** What the tests of other packages use of this one: helpers, and internals that have no public entry. Not published. */
export { type CommandDefinition, loadFlags } from '../command-definition.ts';
export { COMMAND_TREE } from '../command-tree.ts';
export { Invocation } from '../invocation.ts';
export { formatRecord, type RecordStyle } from '../output/format-record.ts';
export { formatInstant, formatTime } from '../output/format-units.ts';
export type { Colors } from '../output/terminal.ts';
export { explainItem } from '../records/follow.ts';
export { timeFlag } from '../records/record-flags.ts';
export { OUTPUT_SCHEMAS, outputSchemaDocument } from './output-schemas.ts';
