import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '../src/local/paths.ts'

// The SDK is a package of its own, because its generator needs another TypeScript than the plane is checked with.

export const SDK_FOLDER = join(PROJECT_ROOT, 'sdk')
/** Its generated part, from the folder of the SDK. */
export const GENERATED = 'src/generated'
const OUTPUT_MAX_BYTES = 16 * 2 ** 20
const runFile = promisify(execFile)

/** Installs the generator and the compiler of the SDK, unless they are there in the versions that its manifest names. */
export async function installSdkTools(): Promise<void> {
  const { devDependencies } = readJson<{ devDependencies: Record<string, string> }>('package.json')
  const missing = Object.entries(devDependencies).filter(([name, version]) => installedVersion(name) !== version)
  if (missing.length > 0) await runInSdk('npm', ['ci', '--no-audit', '--no-fund'])
}

/** Writes the generated part of the SDK from the committed API document into a folder, which is made anew. */
export async function generateSdk(folder = join(SDK_FOLDER, GENERATED)): Promise<void> {
  await installSdkTools()
  await runSdkTool('openapi-ts', ['--silent', '--no-log-file'], { SDK_OUTPUT: folder })
}

/** Runs a program that the SDK brings along, by default in its folder. */
export function runSdkTool(name: string, args: readonly string[], env: Record<string, string> = {}, cwd = SDK_FOLDER): Promise<string> {
  return runInSdk(join(SDK_FOLDER, 'node_modules/.bin', name), args, env, cwd)
}

async function runInSdk(program: string, args: readonly string[], env: Record<string, string> = {}, cwd = SDK_FOLDER): Promise<string> {
  // npm tells its programs where they are by variables that would point npm at the plane's own package.
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
