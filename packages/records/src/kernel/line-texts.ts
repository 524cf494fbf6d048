/** By their numbers in kernel/lines/read-record.ts. */
export const RECORD_TEXTS = [
  ...['{"type":"record","file":"', '","offset":', ',"bytes":', ',"cursor":"', ',"timeMs":', ',"level":"', ',"source":'],
  ...[',"tags":', ',"message":', ',"context":', ',"cut":true', ',"continued":true', ',"raw":', ',"fields":'],
];

/** Writes texts where the kernels of lines expect them: see kernel/lines/layout.ts. */
export function writeTexts(buffer: ArrayBuffer, texts: readonly string[], constant: (name: string) => number): void {
  const rowBytes = constant('TEXT_BYTES');
  const rows = new Uint8Array(buffer, constant('TEXTS'), texts.length * rowBytes);
  for (const [index, text] of texts.entries()) {
    const row = rows.subarray(index * rowBytes);
    row.set(new TextEncoder().encode(text));
    row[31] = text.length;
    row.fill(0xff, 32, 32 + text.length);
  }
}

/** The kernels read 16 bytes at a time, and some of them look ahead. */
export const READS_BEYOND = 64;
