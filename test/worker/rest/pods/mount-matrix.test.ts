import { afterAll, beforeAll, describe, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { cpuPodBody, PODS, type PodBody, type PodScene, podBody, podScene } from '../../../support/pods/pod-scene.ts'

// Every combination of mounts × create and PATCH × GPU and CPU pod × existing mounts. The expected results are derived only from the rules
// (contract, MNT-1 to MNT-5), independently of the code: first the refusals of the schema, then the rules in words.

type Kind = 'persistent' | 'network' | 'global'
/** One form of an entry for a kind of mount. */
type Entry = 'same' | 'other' | 'noVolume' | 'noPath' | 'noSize' | 'small' | 'relative' | 'unknownMember' | 'smaller' | 'notObject'
interface Ask {
  persistent?: Entry
  /** `[]` is an empty list. */
  network?: Entry[]
  global?: Entry[]
  unknownKind?: boolean
}

const ASKS: Record<string, Ask> = {
  nothing: {},
  persistent: { persistent: 'same' },
  network: { network: ['same'] },
  global: { global: ['same'] },
  'network + global': { network: ['same'], global: ['same'] },
  'persistent + network': { persistent: 'same', network: ['same'] },
  'persistent + global': { persistent: 'same', global: ['same'] },
  'all three': { persistent: 'same', network: ['same'], global: ['same'] },
  'empty network': { network: [] },
  'empty global': { global: [] },
  'both empty': { network: [], global: [] },
  'persistent + empty network': { persistent: 'same', network: [] },
  'network + empty global': { network: ['same'], global: [] },
  'two networks': { network: ['same', 'other'] },
  'two globals': { global: ['same', 'other'] },
  'persistent without size': { persistent: 'noSize' },
  'persistent without path': { persistent: 'noPath' },
  'persistent of 9 GB': { persistent: 'small' },
  'persistent, smaller': { persistent: 'smaller' },
  'persistent with a relative path': { persistent: 'relative' },
  'persistent with an unknown member': { persistent: 'unknownMember' },
  'persistent that is no object': { persistent: 'notObject' },
  'network without volume': { network: ['noVolume'] },
  'network without path': { network: ['noPath'] },
  'network with a relative path': { network: ['relative'] },
  'network with an unknown member': { network: ['unknownMember'] },
  'network that is no object': { network: ['notObject'] },
  'global without volume': { global: ['noVolume'] },
  'global without path': { global: ['noPath'] },
  'global with a relative path': { global: ['relative'] },
  'global with an unknown member': { global: ['unknownMember'] },
  'another network volume': { network: ['other'] },
  'another global volume': { global: ['other'] },
  'network + another global volume': { network: ['same'], global: ['other'] },
  'an unknown kind': { unknownKind: true },
}

const EXISTING: Record<string, Kind[]> = {
  'no mounts': [],
  persistent: ['persistent'],
  network: ['network'],
  global: ['global'],
  'network and global': ['network', 'global'],
}

interface Volumes {
  network: string
  global: string
}
/** Size of persistent mounts at create and in requests. */
const SIZE = 20

function entryBody(kind: Kind, entry: Entry, path: string, volumes: Volumes): unknown {
  if (entry === 'notObject') return 'x'
  const place = entry === 'relative' ? path.slice(1) : path
  const sizes: Partial<Record<Entry, number>> = { small: 9, smaller: SIZE - 1 }
  const whole: Record<string, unknown> =
    kind === 'persistent'
      ? { size: sizes[entry] ?? SIZE, path: place }
      : { volumeId: entry === 'other' ? `no${kind}volume` : volumes[kind], path: place }
  if (entry === 'noSize') delete whole.size
  if (entry === 'noVolume') delete whole.volumeId
  if (entry === 'noPath') delete whole.path
  if (entry === 'unknownMember') whole.mode = 'ro'
  return whole
}

function bodyOf(ask: Ask, volumes: Volumes, round: number): Record<string, unknown> {
  const list = (kind: 'network' | 'global') =>
    ask[kind]?.map((entry, index) => entryBody(kind, entry, `/${kind}${round}-${index}`, volumes))
  return {
    ...(ask.persistent && { persistent: entryBody('persistent', ask.persistent, `/persistent${round}`, volumes) }),
    ...(ask.network && { network: list('network') }),
    ...(ask.global && { global: list('global') }),
    ...(ask.unknownKind && { scratch: {} }),
  }
}

interface Verdict {
  status: number
  /** For 422 the only entry of `errors`; for 400 a part of the text. */
  names?: string
}

/** The refusal by the schema, which is the same at create and PATCH. */
function expectSchema(ask: Ask): Verdict | null {
  const problems: Partial<Record<Entry, (at: string) => string>> = {
    noSize: (at) => `${at}: missing property 'size'`,
    noVolume: (at) => `${at}: missing property 'volumeId'`,
    noPath: (at) => `${at}: missing property 'path'`,
    small: (at) => `${at}.size: minimum: got 9, want 10`,
    relative: (at) => `${at}.path: does not match pattern: want an absolute path such as /workspace`,
    unknownMember: (at) => `${at}: additional properties 'mode' not allowed`,
    notObject: (at) => `${at}: got string, want object`,
  }
  const unprocessable = (text: string | undefined): Verdict | null => (text === undefined ? null : { status: 422, names: text })
  if (ask.unknownKind) return unprocessable("$.mounts: additional properties 'scratch' not allowed")
  const ofPersistent = ask.persistent && unprocessable(problems[ask.persistent]?.('$.mounts.persistent'))
  if (ofPersistent) return ofPersistent
  for (const kind of ['network', 'global'] as const) {
    const entries = ask[kind] ?? []
    if (entries.length > 1) return unprocessable(`$.mounts.${kind}: maxItems: got ${entries.length}, want 1`)
    const [entry] = entries
    // The path of a global mount is optional.
    if (entry === undefined || (kind === 'global' && entry === 'noPath')) continue
    const verdict = unprocessable(problems[entry]?.(`$.mounts.${kind}[0]`))
    if (verdict) return verdict
  }
  return null
}

function namedKinds(ask: Ask): Kind[] {
  return (['persistent', 'network', 'global'] as const).filter((kind) => (kind === 'persistent' ? ask.persistent : ask[kind]?.length))
}

function expectCreate(ask: Ask, isCpu: boolean): Verdict {
  const schema = expectSchema(ask)
  if (schema) return schema
  const kinds = namedKinds(ask)
  if (kinds.includes('persistent') && kinds.length > 1) return { status: 400, names: `mounts.${kinds[1]}` }
  if (kinds.includes('persistent') && isCpu) return { status: 400, names: 'mounts.persistent is invalid when cpu is set' }
  if (ask.network?.[0] === 'other') return { status: 400, names: 'network volume nonetworkvolume not found' }
  if (ask.global?.[0] === 'other') return { status: 400, names: 'global volume noglobalvolume not found' }
  return { status: 201 }
}

function expectPatch(ask: Ask, existing: readonly Kind[]): Verdict {
  const schema = expectSchema(ask)
  if (schema) return schema
  const kinds = namedKinds(ask)
  if (kinds.includes('persistent') && kinds.length > 1) return { status: 400, names: `mounts.${kinds[1]}` }
  for (const kind of ['network', 'global'] as const) if (ask[kind]?.length === 0) return { status: 400, names: `mounts.${kind}` }
  for (const kind of kinds) if (!existing.includes(kind)) return { status: 400, names: `mounts.${kind}` }
  for (const kind of ['network', 'global'] as const) {
    if (ask[kind]?.[0] === 'other') return { status: 400, names: `mounts.${kind}[0].volumeId` }
  }
  if (ask.persistent === 'smaller') return { status: 400, names: 'mounts.persistent.size' }
  return { status: 200 }
}

/** The mounts after an accepted request. */
function expectMounts(before: PodBody['mounts'], asked: PodBody): PodBody {
  const after = structuredClone(before)
  if (asked.persistent) after.persistent = asked.persistent
  if (asked.network?.length) after.network = asked.network
  if (asked.global?.length) {
    after.global = [{ volumeId: asked.global[0].volumeId, path: asked.global[0].path ?? before.global?.[0].path ?? '/workspace-global' }]
  }
  return after
}

function check(reply: { status: number; body: PodBody }, verdict: Verdict): void {
  expect({ status: reply.status, body: reply.body }).toMatchObject({ status: verdict.status })
  if (verdict.status === 422) expect(reply.body.errors).toEqual([verdict.names])
  if (verdict.status === 400) expect(reply.body.detail).toContain(verdict.names)
}

describe.each(['GPU', 'CPU'] as const)('%s pods', (compute) => {
  const isCpu = compute === 'CPU'
  const body = isCpu ? cpuPodBody : podBody
  let scene: PodScene
  let volumes: Volumes
  let round = 0

  beforeAll(async () => {
    scene = await podScene(gpus(500))
    const network = await scene.call.post('/v2/network-volumes', { name: 'n', size: 10, dataCenter: 'LOCAL-1' })
    const global = await scene.call.post('/v2/global-volumes', { name: 'g' })
    volumes = { network: network.body.id, global: global.body.id }
  })
  afterAll(() => scene.leave())

  for (const [name, ask] of Object.entries(ASKS)) {
    const verdict = expectCreate(ask, isCpu)
    it(`[MNT-1] [MNT-2] [MNT-3] [MNT-5] [MNT-10] create with ${name}: ${verdict.status}`, async () => {
      round += 1
      const mounts = bodyOf(ask, volumes, round)
      const reply = await scene.call.post(PODS, body({ mounts }))
      check(reply, verdict)
      if (verdict.status === 201) expect(reply.body.mounts).toEqual(expectMounts({}, mounts))
    })
  }

  for (const [what, existing] of Object.entries(EXISTING).filter(([, kinds]) => !(isCpu && kinds.includes('persistent')))) {
    describe(`a pod with ${what}`, () => {
      let id = ''
      beforeAll(async () => {
        const ask: Ask = {
          ...(existing.includes('persistent') && { persistent: 'same' }),
          ...(existing.includes('network') && { network: ['same'] }),
          ...(existing.includes('global') && { global: ['same'] }),
        }
        id = (await scene.create(body({ mounts: bodyOf(ask, volumes, 0) }))).id
      })

      for (const [name, ask] of Object.entries(ASKS)) {
        const verdict = expectPatch(ask, existing)
        it(`[MNT-4] PATCH with ${name}: ${verdict.status}`, async () => {
          round += 1
          const before = await scene.get(id)
          const mounts = bodyOf(ask, volumes, round)
          const reply = await scene.call.patch(`${PODS}/${id}`, { mounts })
          check(reply, verdict)
          const after = await scene.get(id)
          expect(after.mounts).toEqual(verdict.status === 200 ? expectMounts(before.mounts, mounts) : before.mounts)
        })
      }
    })
  }
})
