import { ProgramError } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import type { RecordFormat } from '../output/record-formats.ts';
import { isField, OWN_COLUMNS, parseTemplate, type TemplatePart, templateColumns } from '../output/record-layout.ts';

/** Every field, as requests name it. */
const ALL_FIELDS = '*';

/** Formats whose columns `--fields` chooses. */
const COLUMN_FORMATS: readonly RecordFormat[] = ['table', 'csv', 'json', 'logfmt'];

/** How the flags want records to be printed; nothing about where they come from. */
export interface RecordOutput {
  format: RecordFormat;
  /** The names of `--fields`. */
  chosen: readonly string[] | undefined;
  template: readonly TemplatePart[] | undefined;
  /** What to request: names, or `*` for all fields. */
  fields: readonly string[];
}

/** Reads `--output`, `--fields` and `--template`. Throws if they do not fit, before anything is contacted. */
export function recordOutput(invocation: Invocation): RecordOutput {
  const chosen = chosenColumns(invocation);
  const given = invocation.text('template');
  const format = outputFormat(invocation, { hasColumns: chosen !== undefined, hasTemplate: given !== undefined });
  if ((format === 'template') !== (given !== undefined))
    throw new ProgramError(
      given === undefined
        ? "-o template needs --template, like --template '{time} {level} {message}'"
        : `--template cannot be combined with -o ${format}`,
    );
  if (chosen && !COLUMN_FORMATS.includes(format))
    throw new ProgramError(`--fields cannot be combined with -o ${format}; use -o ${COLUMN_FORMATS.join(', -o ')}`);
  if (chosen?.includes(ALL_FIELDS) && format !== 'json')
    throw new ProgramError(`--fields ${ALL_FIELDS} needs -o json; name the columns of -o ${format}`);
  const template = given === undefined ? undefined : parseTemplate(given);
  return { format, chosen, template, fields: requestedFields(format, chosen ?? templateColumns(template ?? [])) };
}

function outputFormat(
  invocation: Invocation,
  { hasColumns, hasTemplate }: { hasColumns: boolean; hasTemplate: boolean },
): RecordFormat {
  const given = invocation.text('output') as RecordFormat | undefined;
  if (given !== undefined) return given;
  if (hasTemplate) return 'template';
  if (hasColumns) return 'table';
  return invocation.terminal.isTty ? 'pretty' : 'raw';
}

function chosenColumns(invocation: Invocation): string[] | undefined {
  const names = invocation.texts('fields').flatMap((text) => text.split(',').map((name) => name.trim()));
  const columns = [...new Set(names.filter((name) => name !== ''))];
  return columns.length === 0 ? undefined : columns;
}

/** JSON carries all fields unless some are chosen; the other formats need those that are not part of every record. */
function requestedFields(format: RecordFormat, columns: readonly string[]): string[] {
  if (format !== 'json') return [...new Set(columns.filter(isField))];
  const own: readonly string[] = OWN_COLUMNS;
  return columns.length === 0 ? [ALL_FIELDS] : columns.filter((name) => !own.includes(name));
}
