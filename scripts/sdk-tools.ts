import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '../src/local/paths.ts'

// The SDK is a separate package, because its generator needs another TypeScript than the plane.

export const SDK_FOLDER = join(PROJECT_ROOT, 'sdk')
/** The folder of its generated part, relative to the SDK. */
export const GENERATED = 'src/generated'
const OUTPUT_MAX_BYTES = 16 * 2 ** 20
const runFile = promisify(execFile)

/** Installs the generator and the compiler of the SDK, unless the versions in its manifest are already installed. */
export async function installSdkTools(): Promise<void> {
  const { devDependencies } = readJson<{ devDependencies: Record<string, string> }>('package.json')
  const missing = Object.entries(devDependencies).filter(([name, version]) => installedVersion(name) !== version)
  if (missing.length > 0) await runInSdk('npm', ['ci', '--no-audit', '--no-fund'])
}

/** Generates the SDK's client from the committed API document into a folder, which is emptied first. */
export async function generateSdk(folder = join(SDK_FOLDER, GENERATED)): Promise<void> {
  await installSdkTools()
  await runSdkTool('openapi-ts', ['--silent', '--no-log-file'], { SDK_OUTPUT: folder })
}

/** Runs a program from the SDK's dependencies, by default in the SDK's folder. */
export function runSdkTool(name: string, args: readonly string[], env: Record<string, string> = {}, cwd = SDK_FOLDER): Promise<string> {
  return runInSdk(join(SDK_FOLDER, 'node_modules/.bin', name), args, env, cwd)
}

async function runInSdk(program: string, args: readonly string[], env: Record<string, string> = {}, cwd = SDK_FOLDER): Promise<string> {
  // npm passes paths to its programs in variables that would point npm at the plane's own package.
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
  const options = { cwd, env: { ...clean, ...env }, maxBuffer: OUTPUT_MAX_BYTES }
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
