import type { LogSource } from '../sources/log-source.ts';

/** How much text such a file contains is not known. */
const COMPRESSED = /\.(gz|zst|xz|bz2)$/i;

type SizedSource = Pick<LogSource, 'selection'> & { state: Pick<LogSource['state'], 'listLogs'> };

/** Bytes of text that searches of these sources can read; `undefined` if that is not known. */
export async function totalBytes(sources: readonly SizedSource[], signal: AbortSignal): Promise<number | undefined> {
  let bytes = 0;
  for (const { state, selection } of sources) {
    const { file, family } = selection;
    const entries = family === undefined ? await state.listLogs?.({ signal }) : undefined;
    if (!entries) return undefined;
    const selected = entries.filter(({ name }) => file === undefined || name === file);
    if (selected.some(({ name }) => COMPRESSED.test(name))) return undefined;
    bytes += selected.reduce((sum, { size }) => sum + size, 0);
  }
  return bytes;
}
