import { type ClientHttp2Stream, connect } from 'node:http2';
import { onTestFinished } from 'vitest';
import { loadServiceDefinition, type MethodName } from '../service-definition.ts';

/** A call whose response nobody reads: clients of the library read on by themselves. It ends with the test. */
export function openIdleReader(port: number, name: MethodName, request: object): ClientHttp2Stream {
  const { path, requestSerialize } = loadServiceDefinition()[name];
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  const message = requestSerialize(request);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => {}); // that it is cut is what the test is about
  stream.end(Buffer.concat([head, message]));
  return stream.pause();
}
