/** After that the browser has taken the content. */
const KEEP_MS = 60_000;

/** Gives content to the user as a file. */
export function saveContent(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  saveUrl(url, name);
  // It would be kept as long as the page otherwise.
  setTimeout(() => URL.revokeObjectURL(url), KEEP_MS);
}

/** Lets the browser fetch it, or take it from memory; without a name, under the one that the node gives it. */
export function saveUrl(url: string, name = ''): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}
