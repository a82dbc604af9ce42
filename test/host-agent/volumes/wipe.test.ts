import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { boundedRun } from '../../../src/host-agent/volumes/bounded-run.ts'
import { VolumeExchange } from '../../../src/host-agent/volumes/exchange.ts'
import { VolumeMeter } from '../../../src/host-agent/volumes/measure.ts'
import { VolumeRoot } from '../../../src/host-agent/volumes/volume-root.ts'
import type { VolumesRequest, VolumesResponse } from '../../../src/host-protocol/volumes.ts'
import { waitUntil } from '../../support/time.ts'
import { tempDir } from '../support/temp-dir.ts'

function makeRoot(kind: 'network' | 'global' = 'network') {
  const [path, stateDir] = [tempDir('volumes'), tempDir('state')]
  const open = () => new VolumeRoot({ kind, path, stateDir, log: silentLog() })
  return { path, root: open(), open }
}

/** The names in a directory, without the agent's own marker. */
const namesIn = (path: string) => readdirSync(path).filter((name) => name !== '.podplane-volumes')

describe('[HOST-113] the data of a deleted volume', () => {
  test('is removed with its whole tree, and that of other volumes stays', async () => {
    const { path, root } = makeRoot()
    for (const id of ['gone', 'kept']) mkdirSync(join(path, id, 'a/b'), { recursive: true })
    writeFileSync(join(path, 'gone/a/b/file'), 'x')
    writeFileSync(join(path, 'kept/a/b/file'), 'x')
    expect(await root.wipe('gone')).toBe('gone')
    expect(namesIn(path)).toEqual(['kept'])
    expect(readFileSync(join(path, 'kept/a/b/file'), 'utf8')).toBe('x')
    expect(await root.wipe('gone')).toBe('gone')
  })

  test('is removed without following links in it, or one in its place', async () => {
    const { path, root } = makeRoot()
    const victim = tempDir('victim')
    writeFileSync(join(victim, 'precious'), 'x')
    mkdirSync(join(path, 'v'))
    symlinkSync(victim, join(path, 'v/link'))
    symlinkSync('/', join(path, 'v/root'))
    symlinkSync(victim, join(path, 'planted'))
    expect(await root.wipe('v')).toBe('gone')
    expect(await root.wipe('planted')).toBe('gone')
    expect(namesIn(path)).toEqual([])
    expect(readdirSync(victim)).toEqual(['precious'])
  })

  test.each(['', '.', '..', '../victim', 'a/b', '-rf', '.podplane-volumes', 'x'.repeat(65)])(
    'an id such as %j removes nothing',
    async (id) => {
      const { path, root } = makeRoot()
      mkdirSync(join(path, 'v'))
      const [before, outcome] = [namesIn(path), await root.wipe(id)]
      expect([namesIn(path), ['gone', 'later'].includes(outcome)]).toEqual([before, true])
      if (id !== '-rf') expect(outcome).toBe('later')
    },
  )

  test('is removed by the next try after an interrupted removal', async () => {
    const { path, root } = makeRoot()
    mkdirSync(join(path, '.wiped-v.1/deep'), { recursive: true })
    mkdirSync(join(path, '.wiped-v2.1'))
    expect(await root.wipe('v')).toBe('gone')
    expect(namesIn(path)).toEqual(['.wiped-v2.1'])
  })

  test('is not reported as gone where another directory than before, or none, is mounted', async () => {
    const { path, root, open } = makeRoot()
    mkdirSync(join(path, 'v'))
    expect(await root.list()).toEqual(['v'])
    rmSync(path, { recursive: true })
    mkdirSync(path)
    const later = open()
    expect([await later.list(), await later.wipe('v')]).toEqual([undefined, 'later'])
    rmSync(path, { recursive: true })
    expect([await later.list(), await later.wipe('v')]).toEqual([undefined, 'later'])
  })
})

test('[HOST-113][HOST-171] hosts that see a fresh directory at one moment, and both kinds of one host, agree on its marker', async () => {
  const [shared, other] = [tempDir('volumes'), tempDir('volumes')]
  const states = Array.from({ length: 4 }, () => tempDir('state'))
  const open = (stateDir: string, kind: 'network' | 'global') =>
    new VolumeRoot({ kind, path: kind === 'network' ? shared : other, stateDir, log: silentLog() })
  const all = states.flatMap((stateDir) => [open(stateDir, 'network'), open(stateDir, 'global')])
  await Promise.all(all.map((root) => root.list()))
  expect(await Promise.all(all.map((root) => root.list()))).toEqual(Array(8).fill([]))
  for (const stateDir of states) {
    const marks = JSON.parse(readFileSync(join(stateDir, 'volume-roots.json'), 'utf8'))
    const marker = (path: string) => readFileSync(join(path, '.podplane-volumes'), 'utf8')
    expect(marks).toEqual({ [shared]: marker(shared), [other]: marker(other) })
  }
  expect(readdirSync(shared)).toEqual(['.podplane-volumes'])
})

test('[HOST-113] a command that does not answer is abandoned', async () => {
  const startedAt = performance.now()
  expect(await boundedRun('sh', ['-c', 'trap "" TERM; while :; do :; done'], { withinMs: 100 })).toBeUndefined()
  expect(performance.now() - startedAt).toBeLessThan(20_000)
  expect(await boundedRun('/no/such/command', [], { withinMs: 1_000 })).toBeUndefined()
  expect(await boundedRun('sh', ['-c', 'echo out; echo bad >&2; exit 3'], { withinMs: 5_000 })).toEqual({
    ...{ code: 3, stdout: 'out\n', stderr: 'bad' },
  })
})

describe('the exchange of an agent and the plane about volumes', () => {
  function makeExchange(change: { inUse?: ReadonlySet<string> | undefined } = {}) {
    const { path, root } = makeRoot()
    const requests: VolumesRequest[] = []
    const answers: (VolumesResponse | undefined)[] = []
    const uses: ReturnType<VolumeMeter['take']> = []
    const open = 'inUse' in change ? change.inUse : new Set<string>()
    const exchange = new VolumeExchange({
      roots: [root],
      meter: { take: () => uses.splice(0), putBack: (back) => uses.push(...back) },
      send: async (request) => {
        requests.push(request)
        return answers.shift()
      },
      inUse: () => open,
      onSizes: async () => {},
      held: async () => [],
      log: silentLog(),
    })
    return { path, exchange, requests, answers, uses }
  }
  const answer = (nowMs: number, ...ids: string[]): VolumesResponse => ({
    ...{ nowMs, sizes: [], wipe: ids.map((id) => ({ kind: 'network' as const, id })) },
  })
  const use = { kind: 'network' as const, id: 'v', bytes: 1, enforced: false }

  test('[HOST-113][VOL-7] volumes to wipe are wiped, and confirmed in the next request until it succeeds', async () => {
    const { path, exchange, requests, answers } = makeExchange()
    mkdirSync(join(path, 'v'))
    answers.push(answer(1_000, 'v'), undefined, answer(3_000), answer(4_000))
    for (let round = 0; round < 4; round += 1) await exchange.round()
    expect(existsSync(join(path, 'v'))).toBe(false)
    const said = requests.map(({ since, wiped }) => [since, wiped.map(({ id }) => id)])
    expect(said).toEqual([
      [null, []],
      [1_000, ['v']],
      [1_000, ['v']],
      [3_000, []],
    ])
  })

  test.each([
    ['a container has open', new Set(['v'])],
    ['may be open, because the desired state is not known yet', undefined],
  ])('[HOST-113] a volume that %s is not wiped, and requested again', async (_title, inUse) => {
    const { path, exchange, requests, answers } = makeExchange({ inUse })
    mkdirSync(join(path, 'v'))
    answers.push(answer(1_000, 'v'), answer(2_000, 'v'))
    await exchange.round()
    await exchange.round()
    expect(existsSync(join(path, 'v'))).toBe(true)
    expect(requests.at(-1)).toMatchObject({ since: null, wiped: [] })
  })

  test('[HOST-114] sizes are reported once, and again when the report was not received', async () => {
    const { exchange, requests, answers, uses } = makeExchange()
    uses.push(use)
    answers.push(undefined, answer(1), answer(2))
    for (let round = 0; round < 3; round += 1) await exchange.round()
    expect(requests.map(({ used }) => used)).toEqual([[use], [use], []])
  })
})

describe('[HOST-114] the size of volumes', () => {
  test('is measured for each, without following links, and not again soon', async () => {
    const { path, root } = makeRoot()
    const outside = tempDir('outside')
    writeFileSync(join(outside, 'large'), Buffer.alloc(2 ** 20))
    mkdirSync(join(path, 'full'))
    mkdirSync(join(path, 'empty'))
    writeFileSync(join(path, 'full/file'), Buffer.alloc(2 ** 18))
    symlinkSync(outside, join(path, 'empty/link'))
    const meter = new VolumeMeter([root])
    meter.start()
    const found = new Map<string, number>()
    await waitUntil('both volumes', () => {
      for (const { id, bytes } of meter.take(10)) found.set(id, bytes)
      return found.size === 2
    })
    meter.close()
    expect(found.get('full')).toBeGreaterThanOrEqual(2 ** 18)
    expect(found.get('empty')).toBeLessThan(2 ** 17)
    expect(meter.take(10)).toEqual([])
  })
})
