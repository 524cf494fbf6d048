import { showNumber } from './rounds.ts';

export interface BarChart {
  title: string;
  groups: readonly { title: string; bars: readonly { name: string; value: number; isOurs: boolean }[] }[];
}

const WIDTH = 760;
const NAME_WIDTH = 240;
const VALUE_WIDTH = 70;
const ROW = 20;
const MARGIN = 16;

/** Readable on white and on black. */
const COLOURS = { ours: '#2a78d6', others: '#8a94a3', text: '#6b7480' };

/** Horizontal bars on a logarithmic scale, as SVG. */
export function barChart({ title, groups }: BarChart): string {
  const values = groups.flatMap(({ bars }) => bars.map(({ value }) => value));
  const low = Math.log10(Math.min(...values)) - 0.2;
  const high = Math.log10(Math.max(...values));
  const space = WIDTH - NAME_WIDTH - VALUE_WIDTH - 2 * MARGIN;
  const length = (value: number) => Math.max(2, ((Math.log10(value) - low) / (high - low)) * space);
  let y = MARGIN + ROW;
  const parts = [text(MARGIN, y, title, 'font-weight="600" font-size="14"')];
  for (const group of groups) {
    y += ROW * 1.6;
    parts.push(text(MARGIN, y, group.title, 'font-weight="600"'));
    for (const { name, value, isOurs } of group.bars.toSorted((a, b) => a.value - b.value)) {
      y += ROW;
      const width = length(value);
      const colour = isOurs ? COLOURS.ours : COLOURS.others;
      parts.push(
        text(NAME_WIDTH, y, name, 'text-anchor="end"'),
        `<rect x="${NAME_WIDTH + 8}" y="${y - 11}" width="${width.toFixed(1)}" height="13" rx="2" fill="${colour}"/>`,
        text(NAME_WIDTH + width + 14, y, showNumber(value)),
      );
    }
  }
  const height = y + MARGIN;
  const style = `font-family="system-ui, sans-serif" font-size="12" fill="${COLOURS.text}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" ${style}>`;
  return `${head}\n<title>${escaped(title)}</title>\n${parts.join('\n')}\n</svg>\n`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${attributes && ` ${attributes}`}>${escaped(content)}</text>`;
}
