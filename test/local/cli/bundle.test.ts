import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { PROGRAM_OPTIONS } from '../../../scripts/program-options.ts'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { describe, expect, it } from '../../support/unit.ts'

const MAX_BYTES = 400_000
/** Bytes of the files loaded at the start: the tree of commands and the library that reads it. */
const MAX_START_BYTES = 300_000
const ENTRY = 'src/cli/main.ts'

const built = await build({
  ...PROGRAM_OPTIONS,
  absWorkingDir: PROJECT_ROOT,
  entryPoints: [ENTRY],
  outfile: join(PROJECT_ROOT, 'dist/unused.mjs'),
  minify: true,
  metafile: true,
  write: false,
})
const meta: Metafile = built.metafile
const bytes = built.outputFiles[0]?.contents.length ?? 0

/** Files that are loaded before any action runs. */
function loadedAtStart(): string[] {
  const found = new Set([ENTRY])
  for (const file of found) {
    for (const { path, kind, external } of meta.inputs[file]?.imports ?? []) if (!external && kind !== 'dynamic-import') found.add(path)
  }
  return [...found]
}

describe('dist/podplane.mjs', () => {
  it('[CMD-45, DEV-5] is one small file that needs no package', () => {
    expect(bytes).toBeLessThan(MAX_BYTES)
    const needed = Object.values(meta.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
    expect(needed.filter((path) => !path.startsWith('node:') && !isBuiltin(path))).toEqual([])
    const packages = Object.keys(meta.inputs).flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [])
    expect([...new Set(packages)].toSorted()).toEqual(['commander', 'smol-toml'])
  })

  it('[DEV-5] loads only the code for help at the start, without the client of a plane', () => {
    const files = loadedAtStart()
    expect(files).toContain('src/cli/commands/pods.ts')
    expect(
      files.filter((file) =>
        /smol-toml|src\/client\/(client|transport|operations)|src\/cli\/(doors|deploy|tools|logs|pods|jobs|endpoints|account)\//.test(file),
      ),
    ).toEqual([])
    expect(files.reduce((sum, file) => sum + (meta.inputs[file]?.bytes ?? 0), 0)).toBeLessThan(MAX_START_BYTES)
  })
})

function isBuiltin(path: string): boolean {
  return process.getBuiltinModule(path) !== undefined
}
