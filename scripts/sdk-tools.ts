import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '../src/local/paths.ts'

// The SDK is a separate package, because its generator needs another TypeScript than the plane.

export const SDK_FOLDER = join(PROJECT_ROOT, 'sdk')
/** The folder of its generated part, relative to the SDK. */
export const GENERATED = 'src/generated'
const DOCUMENT = 'docs/openapi-v2.json'
/** Parts of the SDK's folder that are made, not written. */
const SKIPPED: readonly string[] = ['node_modules', 'dist', GENERATED]
const OUTPUT_MAX_BYTES = 16 * 2 ** 20
const runFile = promisify(execFile)

/** Installs the generator and the compiler of the SDK, unless the versions in its manifest are already installed. */
export async function installSdkTools(): Promise<void> {
  const { devDependencies } = readJson<{ devDependencies: Record<string, string> }>('package.json')
  const missing = Object.entries(devDependencies).filter(([name, version]) => installedVersion(name) !== version)
  if (missing.length > 0) await runInSdk('npm', ['ci', '--no-audit', '--no-fund'], SDK_FOLDER)
}

/**
 * Copies the SDK and the API document into a temporary folder, so that several programs can generate and compile it at once. Returns the
 * copy's folder; its parent folder is temporary, too.
 */
export function copySdk(): string {
  const root = mkdtempSync(join(tmpdir(), 'podplane-sdk-'))
  const copy = join(root, 'sdk')
  cpSync(SDK_FOLDER, copy, { recursive: true, filter: (path) => !SKIPPED.includes(relative(SDK_FOLDER, path)) })
  symlinkSync(join(SDK_FOLDER, 'node_modules'), join(copy, 'node_modules'))
  mkdirSync(join(root, 'docs'))
  cpSync(join(PROJECT_ROOT, DOCUMENT), join(root, DOCUMENT))
  return copy
}

/** Generates the client of an SDK folder from the API document beside it. */
export async function generateSdk(folder = SDK_FOLDER): Promise<void> {
  await runSdkTool('openapi-ts', ['--silent', '--no-log-file'], folder)
}

/** Runs a program from the SDK's dependencies in a folder. */
export function runSdkTool(name: string, args: readonly string[], cwd: string): Promise<string> {
  return runInSdk(join(SDK_FOLDER, 'node_modules/.bin', name), args, cwd)
}

async function runInSdk(program: string, args: readonly string[], cwd: string): Promise<string> {
  // npm passes paths to its programs in variables that would point npm at the plane's own package.
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
  const options = { cwd, env: clean, maxBuffer: OUTPUT_MAX_BYTES }
  try {
    return (await runFile(program, args, options)).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')} failed in ${cwd}:\n${stdout}${stderr || String(error)}`)
  }
}

function installedVersion(name: string): string | undefined {
  const manifest = `node_modules/${name}/package.json`
  return existsSync(join(SDK_FOLDER, manifest)) ? readJson<{ version: string }>(manifest).version : undefined
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(SDK_FOLDER, path), 'utf8')) as T
}
