type Numbers = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** More than is needed now, so that the next result, which is a bit larger, fits, too. */
const SPARE_SHARE = 1.25;

/**
 * Memory for packed counts, which travels between the threads: results of some MiB for each job would be garbage of a
 * hundred MiB before it is collected.
 */
export type PackRoom = readonly ArrayBuffer[];

/** An array with room for so many numbers: in one of the buffers, if it is large enough. */
export function numbersIn<T extends Numbers>(
  type: new (buffer: ArrayBuffer, start: number, length: number) => T,
  { length, bytesEach }: { length: number; bytesEach: number },
  buffer: ArrayBuffer | undefined,
): T {
  const bytes = length * bytesEach;
  const isLarge = buffer !== undefined && buffer.byteLength >= bytes;
  return new type(isLarge ? buffer : new ArrayBuffer(Math.ceil(bytes * SPARE_SHARE)), 0, length);
}

/** A copy, in the buffer if it is large enough. */
export function copyInto<T extends Numbers>(numbers: T, buffer: ArrayBuffer | undefined): T {
  const type = numbers.constructor as new (buffer: ArrayBuffer, start: number, length: number) => T;
  const copy = numbersIn(type, { length: numbers.length, bytesEach: numbers.BYTES_PER_ELEMENT }, buffer);
  copy.set(numbers);
  return copy;
}
