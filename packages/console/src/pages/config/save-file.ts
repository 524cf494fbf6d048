/** Gives text to the user as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/toml' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has it by then; it would be kept as long as the page otherwise.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
