/** Whether two entity tags belong to the same file, which may have grown in between. */
export function isSameFile(etag: string, other: string): boolean {
  return etag.split('-', 1)[0] === other.split('-', 1)[0];
}
