/** Runs an access to browser storage, which may be full or forbidden: its failures return `undefined`. */
export function tryStorage<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
