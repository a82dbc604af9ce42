import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../src/local/paths.ts'
import { Fleet } from './support/fleet.ts'
import { GPU_TYPE } from './support/pods.ts'
import { BUILD_TIMEOUT_MS, busyboxImage, pythonClientGenerator } from './support/worker-image.ts'

const DOCUMENT = join(PROJECT_ROOT, 'docs/openapi-v2.json')

const runFile = promisify(execFile)

let fleet: Fleet
let image: string
let python: string
const directory = mkdtempSync(join(tmpdir(), 'podplane-e2e-generated-'))

beforeAll(async () => {
  image = await busyboxImage()
  python = await pythonClientGenerator()
  fleet = await Fleet.start({ hosts: { one: { simulateGpus: `${GPU_TYPE}:1` } } })
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await fleet?.stop()
  rmSync(directory, { recursive: true, force: true })
})

test('[PP-122] a Python client generated from the document makes, reads and ends a pod and an endpoint', async () => {
  // Formatting the client takes programs that are not here, and their absence is a warning.
  const config = join(directory, 'config.yaml')
  writeFileSync(config, 'post_hooks: []\n')
  const target = join(directory, 'podplane_client')
  const generate = ['generate', '--path', DOCUMENT, '--output-path', target, '--meta', 'none', '--config', config, '--fail-on-warning']
  await runFile(join(dirname(python), 'openapi-python-client'), generate)

  const script = join(import.meta.dirname, 'support/generated_client.py')
  const { url, apiKey } = fleet.plane
  const { stdout } = await runFile(python, [script, directory, url, apiKey, image, GPU_TYPE])
  expect(JSON.parse(stdout)).toEqual({
    preview: ['PodPlacementPreview', true],
    refused: ['ErrorResponse', 400, 'invalid GPU type id "No Such GPU"'],
    created: ['Pod', 'PodStatus', 'generated'],
    running: ['Pod', 'RUNNING', 'PodGpu', GPU_TYPE, { GREETING: 'hello' }],
    listed: ['ListPodsResponse', true],
    renamed: ['Pod', 'renamed'],
    deleted: 204,
    gone: ['ErrorResponse', 404],
    endpoint: ['Endpoint', 'generated', true, 'EndpointWorkersView'],
  })
})
