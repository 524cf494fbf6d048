/** Listens to events by their names, separated by spaces; the returned function ends it. */
export function listen<Heard extends Event>(
  target: EventTarget | null | undefined,
  types: string,
  heard: (event: Heard) => void,
  options?: AddEventListenerOptions,
): () => void {
  const names = types.split(' ');
  for (const name of names) target?.addEventListener(name, heard as EventListener, options);
  return () => {
    for (const name of names) target?.removeEventListener(name, heard as EventListener, options);
  };
}
