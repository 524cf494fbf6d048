/** The last whole number of a chunk of lines; `undefined` if it has none. */
export function newestNumber(chunk: Buffer): number | undefined {
  const line = chunk.toString().split('\n').at(-2);
  return line === undefined || line === '' ? undefined : Number(line);
}
