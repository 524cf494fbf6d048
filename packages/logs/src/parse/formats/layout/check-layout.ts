import { compileLineLayout, LineLayoutError } from './line-layout.ts';
import { compileTimeLayout, TimeLayoutError } from './time-layout.ts';

/**
 * Limits of layouts from the settings. The end of a field is searched for with the text after it: time is linear in the
 * line.
 */
export const LAYOUT_LIMITS = { layouts: 8, characters: 256, literalBytes: 32, fields: 32 };

/** Why a line layout from the settings is rejected; `undefined` if it is valid. The built-in ones are not checked. */
export function checkLineLayout(layout: string): string | undefined {
  if (layout.length > LAYOUT_LIMITS.characters) return `a layout has more than ${LAYOUT_LIMITS.characters} characters`;
  const shown = JSON.stringify(layout);
  try {
    const reason = whyUnusable(compileLineLayout(layout).parts);
    return reason && `the layout ${shown} ${reason}`;
  } catch (error) {
    if (!(error instanceof LineLayoutError)) throw error;
    return error.message;
  }
}

export function checkTimeLayout(layout: string): string | undefined {
  if (layout.length > LAYOUT_LIMITS.characters)
    return `a time layout has more than ${LAYOUT_LIMITS.characters} characters`;
  try {
    compileTimeLayout(layout);
    const fields = layout.replace(/'[^']*'/g, '');
    // What is missing would be that of the line before.
    return layout !== 'epoch' && /\[[^\]]*[yMdHm]/.test(fields)
      ? `the time layout ${JSON.stringify(layout)} has a year, month, day, hour or minute in brackets: add a layout without it`
      : undefined;
  } catch (error) {
    if (!(error instanceof TimeLayoutError)) throw error;
    return error.message;
  }
}

type Parts = ReturnType<typeof compileLineLayout>['parts'];

function whyUnusable(parts: Parts): string | undefined {
  const fields = parts.filter(({ kind }) => kind !== 'literal' && kind !== 'space');
  const names = fields.map(({ text }) => text).filter((name) => name !== '_');
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (!names.includes('time')) return 'has no {time}';
  if (twice !== undefined) return `has {${twice}} twice`;
  if (fields.length > LAYOUT_LIMITS.fields) return `has more than ${LAYOUT_LIMITS.fields} fields`;
  if (fields.filter(({ kind }) => kind === 'level' || kind === 'status').length > 1)
    return 'has more than one level: {level} and a status';
  if (parts.some(({ codes }) => codes.length > LAYOUT_LIMITS.literalBytes))
    return `has a text of more than ${LAYOUT_LIMITS.literalBytes} bytes without a space or field`;
  for (const [index, part] of parts.entries()) {
    const reason = whyPartUnusable(part, parts.slice(index + 1));
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function whyPartUnusable({ kind, text, type, mayBeEmpty }: Parts[number], [next, second]: Parts): string | undefined {
  if (kind === 'literal' || kind === 'space') return undefined;
  if (kind === 'time' && (type !== undefined || mayBeEmpty)) return 'has a {time} with a type or ?';
  if (kind === 'level' && mayBeEmpty) return 'has a {level} that may be empty: add a layout without it';
  if (typeof type === 'object' && type.length === 1)
    return `has a field {${text}} of unknown type "${type[0]}": expected int, word, text, http, or texts like a|b`;
  if (type === 'text' && (next?.kind !== 'space' || second?.kind !== 'literal'))
    return `has a field {${text}:text} that is not followed by a space and a text`;
  // A time ends by itself.
  if (kind !== 'time' && next && next.kind !== 'literal' && next.kind !== 'space')
    return `has two fields with nothing between them: {${text}}{${next.text}}`;
  return undefined;
}
