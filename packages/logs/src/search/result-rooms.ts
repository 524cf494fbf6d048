import type { Lane } from './lane.ts';
import type { SearchOptions } from './stop-reason.ts';

/** Larger memory is not kept: a single long record may need that much. */
const MAX_KEPT_BYTES = 2 * 1024 ** 2;

/**
 * Memory of results that were consumed, for the next ones of the same search. A MiB for each of a thousand jobs would be
 * garbage outside the heap, and collecting it takes as long as rendering the records.
 */
export class ResultRooms {
  readonly #rooms: ArrayBuffer[] = [];
  readonly #isOff: boolean;

  constructor({ reusesMemory = false }: Pick<SearchOptions, 'reusesMemory'>) {
    this.#isOff = !reusesMemory;
  }

  take(): readonly [ArrayBuffer] | undefined {
    const room = this.#rooms.pop();
    return room && [room];
  }

  /** Call when what the lanes have emitted is no longer used. */
  putAll(lanes: Iterable<Pick<Lane, 'takeRoom'>>): void {
    if (this.#isOff) return;
    for (const lane of lanes) {
      const room = lane.takeRoom();
      if (room && room.byteLength <= MAX_KEPT_BYTES) this.#rooms.push(room);
    }
  }
}
