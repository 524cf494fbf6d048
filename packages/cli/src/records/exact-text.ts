import type { FoundRecord } from '@porthole/logs';
import type { FileHolder } from '../sources/log-source.ts';

export interface ExactText {
  text: string | Uint8Array;
  /** Does not end with a newline: the file ends there, or the rest of a long record follows. */
  isOpen: boolean;
}

const NEWLINE = 10;

/** Line endings by the number of bytes the text lacks. */
const ENDS = ['', '\n', '\r\n'];

/**
 * A record byte for byte as in its file, with its newline if it has one. Throws if the file must be read for that and
 * cannot be.
 */
export async function exactText(holder: FileHolder, record: FoundRecord): Promise<ExactText> {
  const { bytes, cut, raw } = record;
  const end = cut || raw === undefined ? undefined : ENDS[bytes - Buffer.byteLength(raw)];
  if (end !== undefined && !raw?.includes('\ufffd')) return { text: raw + end, isOpen: end === '' };
  return (await readRecord(holder, record)) ?? receivedText(record);
}

/** The text as received, for a record whose file cannot be read: its member may be gone by now. */
export function receivedText({ raw, message }: FoundRecord): ExactText {
  return { text: `${raw ?? message}\n`, isOpen: false };
}

/** Reads the bytes of a long record, or of one that is not valid UTF-8. */
async function readRecord(holder: FileHolder, { file, offset, bytes }: FoundRecord): Promise<ExactText | undefined> {
  const log = await holder.openLog({ file, text: true });
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of log.read(offset, offset + bytes)) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks);
    return { text, isOpen: text.at(-1) !== NEWLINE };
  } finally {
    await log.close();
  }
}
