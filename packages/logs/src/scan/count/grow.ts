type Numbers = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** The same numbers with room for `length`; at least twice as many as before, so that growing stays cheap. */
export function grow<T extends Numbers>(numbers: T, length: number): T {
  if (length <= numbers.length) return numbers;
  const larger = new (numbers.constructor as new (length: number) => T)(Math.max(length, numbers.length * 2));
  larger.set(numbers);
  return larger;
}
