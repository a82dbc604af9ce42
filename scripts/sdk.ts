import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GENERATED, generateSdk, runSdkTool, SDK_FOLDER } from './sdk-tools.ts'

// Generates the typed client from docs/openapi-v2.json. With --check it changes nothing, and fails if the committed client differs.

if (process.argv.includes('--check')) await checkSdk()
else {
  await generateSdk()
  console.log(`wrote sdk/${GENERATED}`)
}

async function checkSdk(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'podplane-sdk-'))
  try {
    await generateSdk(folder)
    await runSdkTool('tsc', ['--noEmit'])
    const stale = differences(readFiles(join(SDK_FOLDER, GENERATED)), readFiles(folder))
    if (stale.length === 0) return
    console.error(`the SDK is not what the API document gives; run \`npm run generate:sdk\`. Other than it: ${stale.join(', ')}`)
    process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function differences(committed: ReadonlyMap<string, string>, generated: ReadonlyMap<string, string>): string[] {
  return [...new Set([...committed.keys(), ...generated.keys()])].filter((name) => committed.get(name) !== generated.get(name))
}

function readFiles(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}
