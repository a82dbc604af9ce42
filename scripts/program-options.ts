import type { BuildOptions } from 'esbuild'

/** Build options that turn a Node program into one file. */
export const PROGRAM_OPTIONS = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  // Optional compiled modules, which would make the SSH library faster; it works without them.
  external: ['cpu-features', '*.node'],
  // CommonJS packages inside an ES module need these.
  banner: {
    js: [
      "import { createRequire } from 'node:module';",
      'const require = createRequire(import.meta.url);',
      'const __filename = import.meta.filename;',
      'const __dirname = import.meta.dirname;',
    ].join('\n'),
  },
  logLevel: 'warning',
} as const satisfies BuildOptions
