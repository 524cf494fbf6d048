/** How a body can be compressed, as HTTP calls it. */
export type Encoding = 'br' | 'gzip';

/**
 * Which of the encodings that are there an `Accept-Encoding` header likes best; of those it likes equally, the first.
 * `undefined`: as it is, which is also the answer to a header that takes nothing at all.
 */
export function chooseEncoding(header: string | undefined, available: readonly Encoding[]): Encoding | undefined {
  const weights = parseWeights(header ?? '');
  const getWeight = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  const best = Math.max(0, ...available.map(getWeight));
  // A header that does not name it takes it, but never says that it is liked better.
  const plain = weights.get('identity') ?? 0;
  return best > 0 && best >= plain ? available.find((encoding) => getWeight(encoding) === best) : undefined;
}

/** A part that makes no sense is as good as not there. */
function parseWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [, coding, weight = '1'] = /^\s*([a-z0-9*-]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/.exec(part) ?? [];
    if (coding !== undefined) weights.set(coding, Math.min(1, Number(weight)));
  }
  return weights;
}
