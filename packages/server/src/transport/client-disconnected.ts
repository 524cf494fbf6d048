/** The reader took no byte for the allowed time. */
export class ReaderStalled extends Error {
  override readonly name = 'ReaderStalled';
}

/** The connection ended before the answer did. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}
