const BLOCKS = '▁▂▃▄▅▆▇█';

/** Counts over time as one line of blocks: the highest is the largest of this line, nothing is a space. */
export function sparkline(
  buckets: readonly { startMs: number; count: number }[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
  width: number,
): string {
  if (width <= 0) return '';
  const cells = new Array<number>(width).fill(0);
  for (const { startMs, count } of buckets) {
    const index = Math.min(width - 1, Math.floor(((startMs - fromMs) / (toMs - fromMs)) * width));
    cells[index] = (cells[index] ?? 0) + count;
  }
  const most = Math.max(...cells);
  return cells.map((count) => (count === 0 ? ' ' : blockFor(count / most))).join('');
}

function blockFor(share: number): string {
  return BLOCKS.charAt(Math.min(BLOCKS.length - 1, Math.floor(share * BLOCKS.length)));
}
