import type { NodeState } from '@porthole/client';

/** Part of a file's text, uncompressed; what is not text shows as such. A character that is cut at an end is left out. */
export async function readPart(
  node: Pick<NodeState, 'openLog'>,
  { file, start, end }: { file: string; start: number; end: number },
  signal: AbortSignal,
): Promise<string> {
  const log = await node.openLog({ file, text: true }, { signal });
  try {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of log.read(start, Math.min(end, log.sizeBytes), { signal }))
      text += decoder.decode(chunk, { stream: true });
    return text;
  } finally {
    await log.close();
  }
}
