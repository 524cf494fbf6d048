/** Module text by output name, for all kernels. */
export function compileKernels(): Promise<Map<string, string>>;
