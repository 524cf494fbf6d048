/** Supported content encodings. */
export type Encoding = 'br' | 'gzip';

/**
 * The available encoding that an `Accept-Encoding` header prefers; the first one of equals. `undefined`: identity, also for
 * a header that accepts nothing at all.
 */
export function chooseEncoding(header: string | undefined, available: readonly Encoding[]): Encoding | undefined {
  const weights = parseWeights(header ?? '');
  const getWeight = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  const best = Math.max(0, ...available.map(getWeight));
  // Identity is acceptable without being named, but then never preferred.
  const plain = weights.get('identity') ?? 0;
  return best > 0 && best >= plain ? available.find((encoding) => getWeight(encoding) === best) : undefined;
}

/** Invalid parts are ignored. */
function parseWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [, coding, weight = '1'] = /^\s*([a-z0-9*-]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/.exec(part) ?? [];
    if (coding !== undefined) weights.set(coding, Math.min(1, Number(weight)));
  }
  return weights;
}
