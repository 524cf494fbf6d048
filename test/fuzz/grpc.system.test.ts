import { loadServiceDefinition } from '@porthole/server/testing';
import { expect } from 'vitest';
import { fuzz } from './testing/fuzz.ts';

const METHODS = Object.entries(loadServiceDefinition());

/** A message that cannot be read is refused by the library; here it only must not be anything but an error, or take long. */
fuzz('gRPC messages', {
  corpus: [
    Buffer.from([10, 5, 97, 46, 108, 111, 103, 16, 128, 128, 64]),
    Buffer.from([10, 2, 8, 1, 18, 4, 119, 97, 114, 110, 24, 100, 34, 3, 113, 113, 113]),
    Buffer.alloc(64, 0xff),
    Buffer.alloc(200, 0x0a),
  ],
  runs: 1500,
  check(input) {
    for (const [name, { requestDeserialize }] of METHODS) {
      try {
        expect(requestDeserialize(input), name).toBeTypeOf('object');
      } catch (error) {
        expect(error, name).toBeInstanceOf(Error);
        expect((error as Error).message, name).not.toMatch(/Maximum call stack|Invalid (array|string) length/);
      }
    }
  },
});
