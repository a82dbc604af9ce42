import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { isSource } from '../../../src/cli/dev/changes.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from '../../support/unit.ts'
import { podplane, type Routes, ToyPlane } from './terminal.ts'

const E = 'e1b2c3d4e5f6g7'
const MANIFEST = `[endpoints.hello]
image = "\${IMAGE}"
cpu = [{ id = "cpu3c", vcpuCount = 2 }]
workers = { min = 1, max = 3, idleTimeout = 9 }
[endpoints.hello.smoke]
input = { name = "you" }
`
/** An image is as old as the handler in it, which is read before a build counts; one that says so does not build. */
const DOCKER = `#!/bin/sh
if [ "$1" = tag ]; then exit 0; fi
read -r handler < "$3/handler.py"
sum=$(printf %s "$handler" | sha256sum | cut -c1-64)
echo built >> "$3/builds.log"
if [ "$handler" = broken ]; then echo "it is broken" >&2; exit 1; fi
echo "sha256:$sum"
`
const LAST = { nextCursor: null, hasNextPage: false }

let directory: string
let env: Record<string, string>
let plane: ToyPlane | undefined
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'podplane-dev-'))
  const bin = join(directory, 'node_modules')
  mkdirSync(bin)
  writeFileSync(join(bin, 'docker'), DOCKER, { mode: 0o755 })
  writeFileSync(join(directory, 'podplane.toml'), MANIFEST)
  writeFileSync(join(directory, 'handler.py'), 'one')
  env = { PATH: `${bin}${delimiter}${process.env.PATH}` }
})
afterEach(async () => {
  await plane?.close()
  plane = undefined
  rmSync(directory, { recursive: true, force: true })
})

/** A plane with the endpoint once it is made; jobs are over at once but for those that `isHeld`. */
async function open(isHeld: (count: number) => boolean = () => false): Promise<ToyPlane> {
  const made: object[] = []
  const routes: Routes = {
    'GET /v2/serverless': () => ({ body: { endpoints: made, pagination: LAST } }),
    'POST /v2/serverless': ({ body }) => {
      made.push({ ...(body as object), id: E })
      return { status: 201, body: made[0] }
    },
    [`PATCH /v2/serverless/${E}`]: ({ body }) => ({ body: { ...(body as object), id: E } }),
    [`GET /v2/serverless/${E}/workers`]: { body: { workers: [] } },
    [`POST /v2/${E}/run`]: (_asked, count) => ({ body: { id: `j${count}`, status: 'IN_QUEUE' } }),
  }
  for (const count of [1, 2, 3]) {
    const status = () => (isHeld(count) ? 'IN_PROGRESS' : 'COMPLETED')
    routes[`GET /v2/${E}/status-sync/j${count}`] = () => ({ body: { id: `j${count}`, status: status(), output: `hello ${count}` } })
    routes[`POST /v2/${E}/cancel/j${count}`] = { body: { id: `j${count}`, status: 'CANCELLED' } }
  }
  plane = await ToyPlane.open(routes)
  return plane
}
const changes = () => (plane as ToyPlane).asked.filter(({ method }) => method !== 'GET').map(({ method, url }) => `${method} ${url}`)
const images = () => (plane as ToyPlane).asked.flatMap(({ body }) => (body as { image?: string } | undefined)?.image ?? [])
const builds = () => readFileSync(join(directory, 'builds.log'), 'utf8').split('built').length - 1
const save = (text: string) => writeFileSync(join(directory, 'handler.py'), text)

describe('dev', () => {
  it('[CMD-34] --once builds, runs an endpoint of its own without permanent workers, and prints the output of its job', async () => {
    const toy = await open()
    const { code, stdout } = await podplane(['dev', '--once'], { plane: toy, cwd: directory, env })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hello 1\n' })
    expect(changes()).toEqual(['POST /v2/serverless', `POST /v2/${E}/run`])
    expect(toy.asked.find(({ method }) => method === 'POST')?.body).toEqual({
      name: 'hello-dev',
      image: expect.stringMatching(/^podplane-dev\/hello:[0-9a-f]{12}$/),
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      workers: { min: 0, max: 1, idleTimeout: 9 },
    })
  })

  it('[CMD-34] a saved file causes a new image and a new job; a failed build is reported, and waits for the next change', async () => {
    const toy = await open()
    const stop = new AbortController()
    const running = podplane(['dev'], { plane: toy, cwd: directory, env, interrupted: stop.signal })
    const until = async (count: number) =>
      await vi.waitUntil(() => changes().filter((call) => call.endsWith('/run')).length === count, 10_000)
    await until(1)
    save('broken')
    await vi.waitUntil(() => builds() === 2, 10_000)
    save('two')
    await until(2)
    save('three')
    await until(3)
    stop.abort()
    const { code, stdout, stderr } = await running
    expect({ code, first: stdout.split('\n')[0], isSaid: stderr.includes('it is broken\nthe build failed') }).toEqual({
      code: 130,
      first: 'hello 1',
      isSaid: true,
    })
    expect(changes().filter((call) => call.includes('serverless'))).toEqual([
      'POST /v2/serverless',
      `PATCH /v2/serverless/${E}`,
      `PATCH /v2/serverless/${E}`,
    ])
    expect(new Set(images()).size).toBe(3)
  })

  it('[CMD-34] a job that runs when a file changes is cancelled', async () => {
    const toy = await open((count) => count === 1)
    const stop = new AbortController()
    const running = podplane(['dev'], { plane: toy, cwd: directory, env, interrupted: stop.signal })
    await vi.waitUntil(() => toy.asked.some(({ url }) => url.includes('status-sync')), 10_000)
    save('two')
    await vi.waitUntil(() => toy.asked.some(({ url }) => url.includes('status-sync/j2')), 10_000)
    stop.abort()
    expect((await running).stderr).toContain('a file has changed: the job is cancelled')
    expect(changes()).toEqual([
      'POST /v2/serverless',
      `POST /v2/${E}/run`,
      `POST /v2/${E}/cancel/j1`,
      `PATCH /v2/serverless/${E}`,
      `POST /v2/${E}/run`,
    ])
  })

  it('[CMD-34] a failed build is exit code 1 with --once; nothing is done without docker, for another machine, or without a file', async () => {
    const toy = await open()
    const once = async (more: object = {}) => await podplane(['dev', '--once'], { plane: toy, cwd: directory, env, ...more })
    save('broken')
    expect(await once()).toMatchObject({ code: 1, stderr: expect.stringContaining('it is broken\n') })
    save('one')
    expect(await once({ env: { PATH: '/nonexistent' } })).toMatchObject({ code: 2, stderr: expect.stringContaining('no docker') })
    expect(await once({ plane: { url: 'https://plane.example.com' } })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('plane.example.com is another'),
    })
    rmSync(join(directory, 'podplane.toml'))
    expect(await once()).toMatchObject({ code: 2, stderr: expect.stringContaining('podplane init worker') })
    expect(toy.asked).toEqual([])
  })

  it('[CMD-34] ignores files that tools write beside the sources', () => {
    const paths = ['handler.py', 'src/a.py', '.git/index', 'a/__pycache__/x', 'node_modules/x', 'out.log', '.handler.py.swp', 'x~', 'b.pyc']
    expect(paths.filter(isSource)).toEqual(['handler.py', 'src/a.py'])
  })
})
