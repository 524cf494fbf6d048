/** Each icon as a list of SVG elements; the package has types for its whole only. */
declare module 'lucide/dist/esm/icons/*.mjs' {
  const icon: readonly (readonly [tag: string, attributes: Readonly<Record<string, string>>])[];
  // biome-ignore lint/style/noDefaultExport: as the package does
  export default icon;
}
