import { readFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { build } from 'esbuild'
import type { Plugin } from 'vite'
import { watched } from '../plans/sites.ts'

// Each test file loads modules of its own, which its runtime requests one by one. There are about a thousand, so most files would load
// longer than they test. Here they are served as one module. `SOURCES=1` loads them one by one, so that lines in traces are those of the
// sources.

const WHOLE = 'virtual:the-whole-worker'
/** Modules of the runtime, or modules too entangled with Node to be bundled. */
const OF_THE_RUNTIME = ['cloudflare:*']

/**
 * A plugin that serves every source module reachable from `entry` out of one bundle. Tests and the Worker still share one instance of
 * each: the exports of such a module are read from the bundle's.
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
      // The bundle has no lines that a source map would explain; without one it is a third of the size.
      if (id === `\0${WHOLE}`) return { code, map: { mappings: '' } }
      // A test that reads a source's text needs the file.
      const index = id.endsWith('?raw') ? undefined : indexes.get(id.replace(/\?.*$/, ''))
      return index === undefined ? undefined : { code: reexport(`m${index}`, exported[index] ?? []), map: { mappings: '' } }
    },
  }
}

/** The project's own modules in the Worker, relative to the root. */
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
