import type { PrintableRecord } from '../sources/log-source.ts';
import type { ColumnReader } from './column-text.ts';
import { errorAt } from './point-at.ts';

/** Text as it is, or the name of a column. */
export type TemplatePart = { text: string } | { name: string };

/** A brace pair, a name in braces, a lone brace, or text. */
const PART = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g;

/** Parses `{time} {level} {shard}`; `{{` and `}}` are braces. Throws an error that shows the character. */
export function parseTemplate(template: string): TemplatePart[] {
  return [...template.matchAll(PART)].map(({ 0: part, 1: name, index }): TemplatePart => {
    if (name !== undefined) return { name: checkName(name, template, index) };
    if (part === '{') throw errorAt(`${place(index)}: "{" is not closed; write {{ for a brace`, template, index);
    if (part === '}') throw errorAt(`${place(index)}: "}" closes nothing; write }} for a brace`, template, index);
    return { text: part === '{{' || part === '}}' ? part.charAt(0) : part };
  });
}

function checkName(name: string, template: string, index: number): string {
  if (/^\S+$/.test(name)) return name;
  const why = name.trim() === '' ? 'expected a name like {time} or {shard}' : 'a name has no white space';
  throw errorAt(`${place(index + 1)}: ${why}`, template, index + 1);
}

function place(index: number): string {
  return `invalid --template at character ${index + 1}`;
}

/** The names in it. */
export function templateColumns(parts: readonly TemplatePart[]): string[] {
  return parts.flatMap((part) => ('name' in part ? [part.name] : []));
}

/** One record, with its newline. What a record does not have is empty. */
export function fillTemplate(parts: readonly TemplatePart[], record: PrintableRecord, reader: ColumnReader): string {
  return `${parts.map((part) => ('text' in part ? part.text : (reader.read(record, part.name) ?? ''))).join('')}\n`;
}
