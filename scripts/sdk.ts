import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { copySdk, GENERATED, generateSdk, installSdkTools, runSdkTool } from './sdk-tools.ts'

// Generates the typed client from docs/openapi-v2.json. With --check it generates and compiles a copy, and changes nothing.

if (process.argv.includes('--check')) await checkSdk()
else {
  await installSdkTools()
  await generateSdk()
  console.log(`wrote sdk/${GENERATED}`)
}

async function checkSdk(): Promise<void> {
  await installSdkTools()
  const copy = copySdk()
  try {
    await generateSdk(copy)
    await runSdkTool('tsc', ['--noEmit'], copy)
  } finally {
    rmSync(join(copy, '..'), { recursive: true, force: true })
  }
}
