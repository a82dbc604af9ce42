import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { BUILD_TIMEOUT_MS, goToolchain, openApiGenerator } from '../support/agent/worker-image.ts'
import { hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'

// Clients in Go and Java: generated and compiled by pinned tools, and used. Clients in Python and TypeScript take the longer tours.

const DOCUMENT = join(PROJECT_ROOT, 'docs/openapi-v2.json')
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'
const OAPI_RUNTIME = 'github.com/oapi-codegen/runtime@v1.8.0'
/** Time for all downloads of a generator, from empty caches. */
const TEST_TIMEOUT_MS = BUILD_TIMEOUT_MS

const directory = mkdtempSync(join(tmpdir(), 'podplane-e2e-generators-'))
const runFile = promisify(execFile)

let plane: TestPlane
let go: string
let generator: string
beforeAll(async () => {
  ;[go, generator, plane] = await Promise.all([goToolchain(), openApiGenerator(), startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:4'] })])
  await hostIsOnline(plane)
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await plane?.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Runs a program, which may print much; an error contains its whole output. */
async function run(program: string, args: readonly string[], cwd = directory): Promise<string> {
  const env = { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOWORK: 'off' }
  return (await runFile(program, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 })).stdout
}

function generate(language: string, ...more: string[]): Promise<string> {
  return run('java', ['-jar', generator, 'generate', '-i', DOCUMENT, '-g', language, '-o', join(directory, language), ...more])
}

function expectTour(output: string, name: string): void {
  expect(JSON.parse(output)).toEqual({ pod: [name, true, 404], endpoint: ['OFF', true, 404] })
}

describe('[DOC-1, DOC-2, DOC-3] a generated client compiles, and creates, lists and deletes a pod and an endpoint', () => {
  test(
    'by openapi-generator in Go',
    async () => {
      await generate('go', '--additional-properties=packageName=podplane,withGoMod=true,enumClassPrefix=true')
      mkdirSync(join(directory, 'go/cmd'))
      copyFileSync(join(import.meta.dirname, 'openapi-generator-go/main.go'), join(directory, 'go/cmd/main.go'))
      expectTour(await run(go, ['run', './cmd', plane.url, plane.apiKey], join(directory, 'go')), 'go')
    },
    TEST_TIMEOUT_MS,
  )

  test(
    'by oapi-codegen',
    async () => {
      const project = join(directory, 'oapi')
      mkdirSync(join(project, 'podplane'), { recursive: true })
      writeFileSync(join(project, 'go.mod'), 'module example.com/tour\n\ngo 1.24\n')
      copyFileSync(join(import.meta.dirname, 'oapi-codegen/main.go'), join(project, 'main.go'))
      const made = ['-generate', 'types,client', '-package', 'podplane', '-o', 'podplane/client.go', DOCUMENT]
      await run(go, ['run', OAPI_CODEGEN, ...made], project)
      await run(go, ['get', OAPI_RUNTIME], project)
      expectTour(await run(go, ['run', '.', plane.url, plane.apiKey], project), 'oapi')
    },
    TEST_TIMEOUT_MS,
  )

  test(
    'by openapi-generator in Java',
    async () => {
      await generate('java')
      const project = join(directory, 'java')
      await run('mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=libs', '-DincludeScope=compile'], project)
      const main = join(import.meta.dirname, 'openapi-generator-java/Main.java')
      await run('javac', ['-nowarn', '-d', 'classes', '-cp', 'libs/*', '-sourcepath', 'src/main/java', main], project)
      expectTour(await run('java', ['-cp', 'classes:libs/*', 'Main', plane.url, plane.apiKey], project), 'java')
    },
    TEST_TIMEOUT_MS,
  )
})
