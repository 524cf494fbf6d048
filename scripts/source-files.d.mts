/** Every file that would be committed, by its path in the checkout. */
export function sourceFiles(): string[];
