export { type InitResult, initArchive } from './init-archive.ts';
