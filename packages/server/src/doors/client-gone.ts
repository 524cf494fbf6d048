/** The reader took no byte for the allowed time. */
export class ReaderStalled extends Error {
  override readonly name = 'ReaderStalled';
}

/** The connection ended before the answer did. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
