import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { PROJECT_ROOT } from '../src/local/paths.ts'
import { installPackages, runProgram } from './install-packages.ts'

// The SDK is a separate package, because its generator needs another TypeScript than the plane.

export const SDK_FOLDER = join(PROJECT_ROOT, 'sdk')
/** The folder of its generated part, relative to the SDK. */
export const GENERATED = 'src/generated'
const DOCUMENT = 'docs/openapi-v2.json'
/** Parts of the SDK's folder that are made, not written. */
const SKIPPED: readonly string[] = ['node_modules', 'dist', GENERATED]

/** Installs the generator and the compiler of the SDK, unless the versions in its manifest are already installed. */
export function installSdkTools(): Promise<void> {
  return installPackages(SDK_FOLDER)
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
  return runProgram(join(SDK_FOLDER, 'node_modules/.bin', name), args, cwd)
}
