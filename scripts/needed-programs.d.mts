/** The programs that test files start, themselves or by what they import: those of each file. */
export function neededPrograms(files: readonly string[]): Map<string, string[]>;
