import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '../src/local/paths.ts'

interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** On the disk of the project, so that packages can be moved into place. */
const CACHE = join(PROJECT_ROOT, '.cache')
const OUTPUT_MAX_BYTES = 16 * 2 ** 20
const runFile = promisify(execFile)

/**
 * Installs the locked packages of a folder with a manifest of its own, unless its manifest's versions are installed. Packages appear
 * complete or not at all, so programs that do this at once do not disturb each other. Throws with npm's output, for example without a
 * network.
 */
export async function installPackages(folder: string): Promise<void> {
  if (isInstalled(folder)) return
  mkdirSync(CACHE, { recursive: true })
  const draft = mkdtempSync(join(CACHE, 'packages-'))
  const modules = join(folder, 'node_modules')
  try {
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(folder, file), join(draft, file))
    await runProgram('npm', ['ci', '--no-audit', '--no-fund'], draft)
    if (isInstalled(folder)) return
    if (existsSync(modules)) renameSync(modules, join(draft, 'outdated'))
    renameSync(join(draft, 'node_modules'), modules)
  } catch (error) {
    if (!isInstalled(folder)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Runs a program in a folder and returns its output. Throws with all its output if it fails. */
export async function runProgram(program: string, args: readonly string[], cwd: string): Promise<string> {
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

function isInstalled(folder: string): boolean {
  const { dependencies, devDependencies } = readJson<Manifest>(join(folder, 'package.json'))
  return Object.entries({ ...dependencies, ...devDependencies }).every(([name, version]) => {
    const manifest = join(folder, 'node_modules', name, 'package.json')
    return existsSync(manifest) && readJson<{ version: string }>(manifest).version === version
  })
}

function readJson<T>(path: string): T {
  // The caller states the shape of a manifest.
  return JSON.parse(readFileSync(path, 'utf8')) as T
}
