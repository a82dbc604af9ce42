import type { BuildOptions } from 'esbuild'

/** How a program for Node becomes one file. */
export const PROGRAM_OPTIONS = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  // The SSH library would be faster with these compiled ones, and does without.
  external: ['cpu-features', '*.node'],
  // CommonJS packages inside an ES module still ask for these.
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
