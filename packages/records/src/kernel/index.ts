/** What is done by compiled code: in an entry of its own, because pages do without it. */
export { LineKernel } from './line-kernel.ts';
export { type LoadedWasm, loadWasm } from './load-wasm.ts';
export { TextRenderer } from './record-text.ts';
