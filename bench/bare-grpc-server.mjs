/* A server of grpc-js that sends one prepared message over and over: what no server can exceed by much for its clients. */
import { Server, ServerCredentials } from '@grpc/grpc-js';

const [method, totalBytes, messageBytes] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];

/** Field 2 of type bytes, as `chunk` of a tail is. */
const tag = [0x12];
let rest = messageBytes;
for (; rest > 0x7f; rest >>>= 7) tag.push((rest & 0x7f) | 0x80);
tag.push(rest);
const message = Buffer.concat([Buffer.from(tag), Buffer.alloc(messageBytes, 'a')]);

const asIs = (bytes) => bytes;
const definition = {
  path: method,
  requestStream: false,
  responseStream: true,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};
const server = new Server();
server.addService(
  { Tail: definition },
  {
    Tail(call) {
      let left = totalBytes;
      const sendNext = () => {
        if (left <= 0) return call.end();
        left -= messageBytes;
        call.write(message, sendNext);
      };
      sendNext();
    },
  },
);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(`ready at http://127.0.0.1:${port}`);
});
