import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { z } from 'zod'
import { hasCode, OperatorError } from '../../node/fail.ts'
import { readJsonFile, writeLosableJsonFile } from '../../node/json-file.ts'
import { PROJECT_ROOT } from '../paths.ts'
import { captureWrangler, WRANGLER_ENV } from './wrangler.ts'

const WorkerSettings = z.object({
  compatibilityDate: z.string(),
  compatibilityFlags: z.array(z.string()),
  durableObjects: z.record(z.string(), z.object({ className: z.string(), useSQLite: z.boolean().default(false) })),
  d1Databases: z.array(z.string()),
  vars: z.record(z.string(), z.string()),
})
/** Settings from the project's wrangler.toml that the server needs. */
export type WorkerSettings = z.infer<typeof WorkerSettings>

const CachedBundle = z.object({
  /** Hash of every file in the bundle; any change triggers a new build. */
  inputs: z.record(z.string(), z.string()),
  settings: WorkerSettings,
  script: z.string(),
})

/** The Worker as one script, with the settings of `wrangler.toml`. */
export interface WorkerBundle {
  settings: WorkerSettings
  script: string
}

/** Files that influence the bundle without being part of it. */
const BUILD_FILES = ['wrangler.toml', 'package-lock.json', 'src/local/plane/bundle.ts']
const CACHE_DIR = join(PROJECT_ROOT, 'dist/local')

/** Returns the Worker as wrangler bundles it for deployment. A build takes two seconds, so the result is cached until an input changes. */
export async function loadBundle(configPath = join(PROJECT_ROOT, 'wrangler.toml'), cacheName = 'worker'): Promise<WorkerBundle> {
  const cachePath = join(CACHE_DIR, `${cacheName}.json`)
  const cached = CachedBundle.safeParse(readJsonFile(cachePath)).data
  if (cached !== undefined && isCurrent(cached.inputs)) return cached
  mkdirSync(CACHE_DIR, { recursive: true })
  return await buildBundle(configPath, cachePath)
}

function isCurrent(inputs: Record<string, string>): boolean {
  return Object.entries(inputs).every(([path, hash]) => hashFile(path) === hash)
}

async function buildBundle(configPath: string, cachePath: string): Promise<WorkerBundle> {
  const directory = mkdtempSync(join(CACHE_DIR, 'build-'))
  try {
    const [settings] = await Promise.all([
      readSettings(configPath),
      captureWrangler(['deploy', '--dry-run', '--config', configPath, '--outdir', directory, '--metafile', join(directory, 'meta.json')]),
    ])
    const built = { inputs: hashInputs(directory, configPath), settings, script: readScript(directory) }
    // Two starts may build at once: each writes its own file, and the last rename wins as a whole.
    writeLosableJsonFile(join(directory, 'bundle.json'), built)
    renameSync(join(directory, 'bundle.json'), cachePath)
    return built
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function readScript(directory: string): string {
  const scripts = readdirSync(directory).filter((name) => name.endsWith('.js'))
  const others = readdirSync(directory).filter((name) => /\.(wasm|bin|txt|html|mjs)$/.test(name))
  const [script] = scripts
  if (script === undefined || scripts.length > 1 || others.length > 0) {
    throw new OperatorError(`the Worker bundle is not one script: ${[...scripts, ...others].join(', ')}`)
  }
  return readFileSync(join(directory, script), 'utf8')
}

function hashInputs(directory: string, configPath: string): Record<string, string> {
  const meta = z.object({ inputs: z.record(z.string(), z.unknown()) }).parse(readJsonFile(join(directory, 'meta.json')))
  // Wrangler names inputs relative to its configuration.
  const sources = Object.keys(meta.inputs).map((path) => relative(PROJECT_ROOT, resolve(dirname(configPath), path)))
  const paths = [...sources, ...BUILD_FILES, relative(PROJECT_ROOT, configPath)]
  const inputs: Record<string, string> = {}
  for (const path of paths) {
    const hash = hashFile(path)
    // Modules that wrangler generates have no file; they depend only on the configuration and the lock file.
    if (hash !== undefined) inputs[path] = hash
  }
  return inputs
}

function hashFile(path: string): string | undefined {
  try {
    return createHash('sha256')
      .update(readFileSync(resolve(PROJECT_ROOT, path)))
      .digest('hex')
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined
    throw error
  }
}

// Wrangler takes most of a second to load, so it is imported only if the cached bundle is stale.
async function readSettings(configPath: string): Promise<WorkerSettings> {
  Object.assign(process.env, WRANGLER_ENV)
  const { unstable_getMiniflareWorkerOptions: workerOptionsOf, unstable_readConfig: readConfig } = await import('wrangler')
  const { workerOptions } = workerOptionsOf(configPath)
  return WorkerSettings.parse({
    compatibilityDate: workerOptions.compatibilityDate,
    compatibilityFlags: workerOptions.compatibilityFlags ?? [],
    durableObjects: workerOptions.durableObjects ?? {},
    d1Databases: Object.keys(workerOptions.d1Databases ?? {}),
    vars: readConfig({ config: configPath }).vars,
  })
}
