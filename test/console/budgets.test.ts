import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const KB = 1_000
/** Bytes on the wire, gzipped. */
const FIRST_PAGE = 175 * KB
const LAZY = 40 * KB
const TERMINAL = 90 * KB
const STYLES = 15 * KB
/** Chunks loaded beside the page that import nothing of it: the stand-in while its plane is away, and the loader that reloads it. */
const BESIDE = ['offline.js', 'load-again.js']
const EACH_BESIDE = 2 * KB

/** CPU seconds: 10 s of two cores. Wall-clock time on a busy machine says nothing about the build. */
const BUILD_SECONDS = 20

const directory = mkdtempSync(join(tmpdir(), 'podplane-console-'))
const wireSize = (file: string) => gzipSync(readFileSync(join(directory, file))).length
let chunks: Rolldown.OutputChunk[] = []
let buildSeconds = 0

/** The chunks that a page needs before any of its code runs: the entry and all its static imports. */
function withImports(entry: Rolldown.OutputChunk): Rolldown.OutputChunk[] {
  const seen = new Set([entry])
  for (const chunk of seen) {
    for (const name of chunk.imports) {
      const found = chunks.find(({ fileName }) => fileName === name)
      if (found) seen.add(found)
    }
  }
  return [...seen]
}

describe('[UI-1] the console is small', () => {
  beforeAll(async () => {
    const configFile = resolve(import.meta.dirname, '../../src/console/vite.config.ts')
    const before = process.cpuUsage()
    const built = (await build({ configFile, build: { outDir: directory, emptyOutDir: true } })) as Rolldown.RolldownOutput
    const { user, system } = process.cpuUsage(before)
    buildSeconds = (user + system) / 1e6
    chunks = built.output.filter((file) => file.type === 'chunk')
  }, 60_000)
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it('[DEV-2] its build', () => {
    expect(buildSeconds).toBeGreaterThan(0)
    expect(buildSeconds).toBeLessThanOrEqual(BUILD_SECONDS)
  })

  it('its first page', () => {
    const entry = chunks.find(({ isEntry, fileName }) => isEntry && !BESIDE.includes(fileName))
    if (entry === undefined) throw new Error('the build has no entry')
    const bytes = withImports(entry).reduce((sum, { fileName }) => sum + wireSize(fileName), 0) + wireSize('load-again.js')
    expect(bytes).toBeGreaterThan(50 * KB)
    expect(bytes).toBeLessThanOrEqual(FIRST_PAGE)
  })

  it('each part that is loaded later', () => {
    const late = chunks.filter(({ isEntry }) => !isEntry).map(({ fileName }) => [fileName, wireSize(fileName)] as const)
    expect(late.filter(([name, bytes]) => bytes > (name.includes('terminal') ? TERMINAL : LAZY))).toEqual([])
  })

  it.each(BESIDE)('%s, which stands in for the page', (name) => {
    const chunk = chunks.find(({ fileName }) => fileName === name)
    expect(chunk?.imports).toEqual([])
    expect(wireSize(name)).toBeLessThanOrEqual(EACH_BESIDE)
  })

  it('its styles, and it brings no fonts', () => {
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const names = files.map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    const styles = names.filter((name) => name.endsWith('.css'))
    expect(styles.reduce((sum, name) => sum + wireSize(name), 0)).toBeLessThanOrEqual(STYLES)
    expect(names.filter((name) => /\.(woff2?|ttf|otf)$/.test(name))).toEqual([])
  })

  it('schemas stay out of the browser', () => {
    const modules = chunks.flatMap(({ moduleIds }) => moduleIds)
    expect(modules.filter((id) => /node_modules\/zod\//.test(id) || /src\/contract\/(?!defaults\.ts)/.test(id))).toEqual([])
  })
})
