/** Stands for a value that is not known; says why to who asks. */
export function Unknown({ why }: { why: string }) {
  return (
    <span class="unknown" title={why}>
      <span aria-hidden="true">–</span>
      <span class="sr-only">not known: {why}</span>
    </span>
  );
}
