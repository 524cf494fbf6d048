/** The client read nothing for the allowed time. */
export class ReaderStalled extends Error {
  override readonly name = 'ReaderStalled';
}

/** The connection was closed before the response was complete. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}
