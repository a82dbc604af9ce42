import { readFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { build } from 'esbuild'
import type { Plugin } from 'vite'
import { watched } from './plans/sites.ts'

// Each test file begins with modules of its own, which its runtime asks for one by one. They are about a thousand, so most files would
// load longer than they test. Here they travel as one module. `SOURCES=1` loads them one by one: lines in traces are those of the sources.

const WHOLE = 'virtual:the-whole-worker'
/** Of the runtime, or too entangled with Node to be put into a bundle. */
const OF_THE_RUNTIME = ['cloudflare:*']

/**
 * A plugin that serves every source module which `entry` reaches out of one bundle. Tests and the Worker still share one instance of each:
 * what such a module exports is read from the bundle's.
 *
 * @param root the directory of the project, absolute
 * @param entry the Worker's main module, relative to `root`
 */
export async function inOneModule(root: string, entry: string): Promise<Plugin> {
  const files = await filesBehind(root, entry)
  const exported = await exportsOf(root, files)
  const code = await bundle(root, files)
  const indexes = new Map(files.map((file, index) => [resolve(root, file), index]))
  return {
    name: 'podplane:one-module',
    enforce: 'pre',
    resolveId: (id) => (id === WHOLE ? `\0${WHOLE}` : undefined),
    load(id) {
      // Nothing that a map would explain is left of it; without one it is a third of the size.
      if (id === `\0${WHOLE}`) return { code, map: { mappings: '' } }
      // A test that reads a source's text means the file.
      const index = id.endsWith('?raw') ? undefined : indexes.get(id.replace(/\?.*$/, ''))
      return index === undefined ? undefined : { code: reexport(`m${index}`, exported[index] ?? []), map: { mappings: '' } }
    },
  }
}

/** The project's own modules that the Worker consists of, relative to the root. */
async function filesBehind(root: string, entry: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    packages: 'external',
    write: false,
    metafile: true,
    format: 'esm',
  })
  return Object.keys(metafile.inputs).toSorted()
}

/** The names that each of the files exports, in their order. */
async function exportsOf(root: string, files: string[]): Promise<string[][]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: files,
    outdir: 'never-written',
    outbase: '.',
    write: false,
    metafile: true,
    format: 'esm',
    logLevel: 'error',
  })
  const byEntry = new Map(Object.values(metafile.outputs).map((output) => [output.entryPoint, output.exports]))
  return files.map((file) => byEntry.get(file) ?? [])
}

async function bundle(root: string, files: string[]): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: {
      contents: files.map((file, index) => `export * as m${index} from ${JSON.stringify(`./${relative('.', file)}`)}`).join('\n'),
      resolveDir: root,
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    mainFields: ['browser', 'module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    external: OF_THE_RUNTIME,
    keepNames: true,
    minifyWhitespace: true,
    logLevel: 'error',
    plugins: process.env.PLANS_RECORDED
      ? [
          {
            name: 'podplane:statements',
            setup: (esbuild) =>
              esbuild.onLoad({ filter: /\/(src\/db|durable-objects)\/.*\.ts$/ }, async ({ path }) => ({
                contents: watched(root, path, await readFile(path, 'utf8')),
                loader: 'ts',
              })),
          },
        ]
      : [],
  })
  return outputFiles[0]?.text ?? ''
}

function reexport(name: string, exported: string[]): string {
  const names = exported.filter((each) => each !== 'default')
  return [
    `import { ${name} as whole } from '${WHOLE}'`,
    `export const { ${names.join(', ')} } = whole`,
    exported.includes('default') ? 'export default whole.default' : '',
  ].join('\n')
}
