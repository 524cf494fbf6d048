/** Module text by output name, for all kernels. */
export function compileKernels(): Promise<Map<string, string>>;

/** Hashes of all that the kernels are made of, the compiler included, and of what is made. */
export function fingerprintKernels(): object;

/** What the last compilation has left for `fingerprintKernels` to be compared with. */
export function readFingerprint(): object;
