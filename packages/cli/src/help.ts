import { type Command, Help } from 'commander';
import type { CommandDefinition } from './command-definition.ts';

/** Widest term with its description beside it; below longer ones, the description is on the next line. */
const MAX_TERM_COLUMNS = 28;

/** Lines of text that are narrower are not readable: on such terminals they are as long as they are. */
const MIN_WRAP_COLUMNS = 24;

const INDENT = '  ';

/** Where there is no terminal. */
const DEFAULT_COLUMNS = 80;

const { padWidth, formatItem, boxWrap } = Help.prototype;

/** How commander prints help: no line is longer than the terminal, or than 80 columns in a pipe. */
export const HELP_FORMAT: Partial<Help> = {
  minWidthToWrap: MIN_WRAP_COLUMNS,
  // The definitions already describe values and defaults; commander would repeat them.
  optionDescription: ({ description }) => description,
  padWidth: (command, helper) => Math.min(MAX_TERM_COLUMNS, padWidth.call(helper, command, helper)),
  formatItem(term, termColumns, description, helper) {
    if (helper.displayWidth(term) <= termColumns)
      return formatItem.call(helper, term, termColumns, description, helper);
    return `${INDENT}${breakTerm(term, helper)}\n${formatItem.call(helper, '', termColumns, description, helper)}`;
  },
};

/** A term that is longer than a line, like a flag with many values, continues on the next one after a `|`. */
function breakTerm(term: string, { helpWidth = DEFAULT_COLUMNS }: Help): string {
  const lines = [''];
  for (const part of term.split(/(?<=\|)/)) {
    const line = `${lines.at(-1)}${part}`;
    if (line.length + INDENT.length <= helpWidth) lines[lines.length - 1] = line;
    else lines.push(`${INDENT}${part}`);
  }
  return lines.join(`\n${INDENT}`);
}

/** Adds what follows the flags in the help of a command: notes and examples. */
export function addNotes(command: Command, { examples = [], notes = [] }: CommandDefinition): void {
  if (notes.length === 0 && examples.length === 0) return;
  command.addHelpText('after', () => {
    const columns = command.configureOutput().getOutHelpWidth?.() ?? DEFAULT_COLUMNS;
    const helper = Object.assign(command.createHelp(), { helpWidth: columns });
    const parts = notes.map((note) => boxWrap.call(helper, note, columns));
    if (examples.length > 0) parts.push(`Examples:\n${formatExamples(examples, columns)}`);
    return `\n${parts.join('\n\n')}`;
  });
}

/** Commands with what they do beside them, or below if a line would be too long. */
function formatExamples(examples: NonNullable<CommandDefinition['examples']>, columns: number): string {
  const width = Math.max(...examples.map(([line]) => line.length));
  const beside = examples.map(([line, about]) => `  ${line.padEnd(width)}  ${about}`);
  if (beside.every((line) => line.length <= columns)) return beside.join('\n');
  return examples.map(([line, about]) => `  ${line}\n      ${about}`).join('\n');
}
