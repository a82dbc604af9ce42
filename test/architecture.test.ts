import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from './support/unit.ts'

const ROOT = resolve(import.meta.dirname, '..')
const listFiles = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
const source = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const importsOf = (file: string): { target: string; typeOnly: boolean }[] =>
  [...source(file).matchAll(/^(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm)].map((match) => {
    const specifier = match[2] ?? match[3] ?? ''
    const target = specifier.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), specifier)) : specifier
    return { target, typeOnly: match[1] !== undefined }
  })

/** From left to right; a layer imports itself and what stands before it. */
const LAYERS = ['src/contract', 'src/domain', 'src/db', 'src/services', 'src/http', 'src/app.ts', 'src/worker.ts']
const layerOf = (path: string) => LAYERS.findIndex((layer) => path === layer || path.startsWith(`${layer}/`))

describe('imports', () => {
  for (const file of listFiles('src').filter((name) => layerOf(name) >= 0)) {
    it(`${file} imports only from its left`, () => {
      for (const { target } of importsOf(file)) {
        if (layerOf(target) >= 0) expect(layerOf(target), target).toBeLessThanOrEqual(layerOf(file))
      }
    })
  }

  it('the contract knows zod and itself', () => {
    for (const file of listFiles('src/contract')) {
      for (const { target } of importsOf(file))
        expect(target === 'zod' || target.startsWith('src/contract/'), `${file}: ${target}`).toBe(true)
    }
  })

  it('the domain knows the contract, the host protocol and itself', () => {
    const allowed = ['src/contract/', 'src/domain/', 'src/host-protocol/']
    for (const file of listFiles('src/domain')) {
      for (const { target } of importsOf(file))
        expect(
          allowed.some((prefix) => target.startsWith(prefix)),
          `${file}: ${target}`,
        ).toBe(true)
    }
  })

  it('routes and services write no SQL', () => {
    for (const file of [...listFiles('src/http'), ...listFiles('src/services')]) {
      for (const { target } of importsOf(file)) expect(target.startsWith('drizzle-orm'), `${file}: ${target}`).toBe(false)
    }
  })

  it('objects are bound by type alone: no layer pulls a Durable Object class into its code', () => {
    const classes = /^durable-objects\/(endpoint|host|pod-log|rate-limiter|webhook-sender)\.ts$/
    for (const file of listFiles('src').filter((name) => name !== 'src/worker.ts')) {
      for (const { target, typeOnly } of importsOf(file)) expect(classes.test(target) && !typeOnly, `${file}: ${target}`).toBe(false)
    }
  })
})

describe('domain', () => {
  const FORBIDDEN =
    /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bcrypto\.|\bfetch\(|\bsetTimeout\b|\bsetInterval\b|\bperformance\.|\bprocess\.|\bEnv\b/
  for (const file of listFiles('src/domain')) {
    it(`${file} touches no clock, randomness, network or binding`, () => {
      const code = source(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      expect(FORBIDDEN.exec(code)?.[0]).toBeUndefined()
    })
  }
})

describe('the project stands alone', () => {
  it('no file names a machine path', () => {
    const needle = new RegExp(['/wo', 'rk/|\\.\\./sha', 'red/'].join(''))
    for (const folder of ['src', 'durable-objects', 'test', 'scripts']) {
      for (const file of listFiles(folder)) expect(needle.test(source(file)), file).toBe(false)
    }
  })
})
