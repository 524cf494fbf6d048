import {
  FRAME_HEAD_BYTES,
  type Frame,
  FrameError,
  type FrameHead,
  joinBytes,
  readFrame,
  readFrameHead,
} from '@porthole/records';
import type { Exchange } from './exchange.ts';
import type { ReceivedLines } from './search-stream.ts';

/** The frames of a response. Each is held until all of it has come, up to `maxItemBytes`. */
export async function* readFrames(exchange: Exchange): AsyncGenerator<ReceivedLines, void, undefined> {
  let parts: Uint8Array[] = [];
  let heldBytes = 0;
  let head: FrameHead | undefined;
  for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) {
    exchange.hold(chunk.length);
    parts.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < (head?.frameBytes ?? FRAME_HEAD_BYTES)) continue;
    let bytes = joinBytes(parts);
    for (;;) {
      if (bytes.length < FRAME_HEAD_BYTES) break;
      head ??= checkedHead(exchange, bytes);
      const { frameBytes } = head;
      if (bytes.length < frameBytes) break;
      yield toLines(wholeFrame(exchange, head, bytes.subarray(0, frameBytes)));
      bytes = bytes.subarray(frameBytes);
      head = undefined;
    }
    parts = bytes.length > 0 ? [bytes] : [];
    heldBytes = bytes.length;
    exchange.holdOnly(heldBytes);
  }
  if (heldBytes > 0) throw exchange.cut(`the response of ${exchange.path} was cut off within a frame`);
}

function checkedHead(exchange: Exchange, bytes: Uint8Array): FrameHead {
  const head = orBadResponse(exchange, () => readFrameHead(bytes));
  const { maxItemBytes } = exchange.options;
  if (head.frameBytes > maxItemBytes)
    throw exchange.badResponse(`a frame of ${exchange.path} is longer than maxItemBytes (${maxItemBytes})`);
  return head;
}

function wholeFrame(exchange: Exchange, head: FrameHead, bytes: Uint8Array): Frame {
  return orBadResponse(exchange, () => readFrame(head, bytes));
}

function toLines({ text, batch }: Frame): ReceivedLines {
  return { text, content: batch ? 'records' : 'end', batch };
}

function orBadResponse<T>(exchange: Exchange, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof FrameError) throw exchange.badResponse(`${exchange.path}: ${error.message}`, error);
    throw error;
  }
}
