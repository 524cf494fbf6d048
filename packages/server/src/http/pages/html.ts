/** Safe markup. Only `html` creates it, so text never becomes markup by accident. */
export class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

type Part = string | number | Html | readonly Part[] | undefined;

/** A template that escapes interpolated text, but not interpolated `Html` or lists of it. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  const pieces = strings.map((string, index) => (index === 0 ? string : render(parts[index - 1]) + string));
  return new Html(pieces.join(''));
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.toString();
  if (typeof part === 'object') return part.map(render).join('');
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
