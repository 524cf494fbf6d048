export { endFrameBytes, type FrameLies, type FrameParts, frameBytes, framedLines } from './frame-bytes.ts';
/** What tests of every package use. Not published. */
export { IS_LONG_RUN, runs } from './runs.ts';
export { onEnd, share } from './share.ts';
export { tempDir } from './temp-dir.ts';
