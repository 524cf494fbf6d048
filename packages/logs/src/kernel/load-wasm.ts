/* The part of WebAssembly we use: every platform has it, but its types are part of the DOM library. */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

interface WasmApi {
  Memory: new (size: { initial: number }) => WasmMemory;
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => { exports: Record<string, unknown> };
}

const PAGE_BYTES = 65_536;

export interface LoadedWasm {
  buffer: ArrayBuffer;
  exports: Record<string, unknown>;
  /** The value of an exported constant. */
  constant(name: string): number;
}

/** An instance with its own memory: of the size of its constant MEMORY_BYTES, and what is needed beyond. */
export function loadWasm(base64: string, extraBytes = 0): LoadedWasm {
  const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: WasmApi }).WebAssembly;
  const memory = new Memory({ initial: 1 });
  const { exports } = new Instance(new Module(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))), {
    env: { memory },
  });
  const constant = (name: string) => (exports[name] as { value: number }).value;
  memory.grow(Math.ceil((constant('MEMORY_BYTES') + extraBytes) / PAGE_BYTES));
  return { buffer: memory.buffer, exports, constant };
}
