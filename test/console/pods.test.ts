import { describe, expect, it, vi } from 'vitest'
import { ApiError } from '../../src/client/errors.ts'
import { fieldErrors } from '../../src/console/hooks/field-errors.ts'
import { askedBody, EMPTY_POD, missingOf, podBody } from '../../src/console/pages/pods/create/pod-form.ts'
import { portAddress } from '../../src/console/pages/pods/pod/port-address.ts'
import { changesOf, needsNewContainer, settingsText } from '../../src/console/pages/pods/pod/settings-form.ts'
import { ACT_ORDER, whyNot } from '../../src/console/pages/pods/pod-acts.ts'
import { heard, protocolsFor, resized, typed } from '../../src/console/pages/pods/terminal/channels.ts'
import { Shell, type ShellState } from '../../src/console/pages/pods/terminal/shell.ts'
import { readEnv, readLabels, readPorts, splitLabels, writeEnv, writeLabels } from '../../src/console/parts/container/text-lists.ts'
import { POD_EXAMPLE } from '../../src/contract/pods/pod-example.ts'
import { Pod } from '../../src/contract/pods/pods.ts'
import { decodeChannel, encodeChannel, exited } from '../../src/host-protocol/tunnel/channels.ts'

const POD = Pod.parse({ ...POD_EXAMPLE, mounts: { persistent: { size: 20, path: '/workspace' } } })

describe('[UI-20] actions of a pod', () => {
  it('are those that the plane lists; the others are disabled with a reason', () => {
    const running = ACT_ORDER.map((act) => whyNot(POD, act, true))
    expect(running).toEqual(['Not while the pod is RUNNING.', undefined, undefined, undefined])
    const locked = ACT_ORDER.map((act) => whyNot({ ...POD, locked: true, actions: ['terminate'] }, act, true))
    const reason = 'The pod is locked. Unlock it in its settings first.'
    expect(locked).toEqual(['Not while the pod is RUNNING.', reason, reason, undefined])
    expect(whyNot(POD, 'stop', false)).toBe('Your role may view pods but not change them.')
  })
})

describe('[UI-21] a new pod', () => {
  const text = { ...EMPTY_POD, name: 'lab', gpuId: 'NVIDIA L4', container: { ...EMPTY_POD.container, image: 'python:3' } }

  it('is requested as it is typed, without empty fields', () => {
    expect(podBody(text, 0)).toEqual({ name: 'lab', image: 'python:3', gpu: { id: 'NVIDIA L4', count: 1 }, startSsh: true })
    expect(podBody({ ...text, idleStopMinutes: '30' }, 0)).toMatchObject({ idleStop: { afterSeconds: 1800 } })
    expect(podBody({ ...text, labels: 'team=research, gpu' }, 0)).toMatchObject({ labels: { team: 'research', gpu: '' } })
    const more = { ...text, persistentGb: '20', networkVolumeId: 'vol', dataCenters: 'EU-RO-1', stopAfterHours: '2', startSsh: false }
    expect(podBody(more, Date.parse('2026-06-01T12:00:00Z'))).toEqual({
      name: 'lab',
      image: 'python:3',
      gpu: { id: 'NVIDIA L4', count: 1 },
      dataCenterIds: ['EU-RO-1'],
      mounts: { persistent: { size: 20, path: '/workspace' }, network: [{ volumeId: 'vol', path: '/workspace' }] },
      stopAfter: '2026-06-01T14:00:00Z',
    })
  })

  it('is not previewed before the form is filled in, nor again when only its name changes', () => {
    expect(missingOf({ ...text, gpuId: '' })).toBe('Choose the hardware.')
    expect(missingOf({ ...text, container: EMPTY_POD.container })).toBe('Enter an image, or choose a template.')
    expect(missingOf(text)).toBeUndefined()
    expect(askedBody({ ...text, name: '', stopAfterHours: '2', idleStopMinutes: '10', labels: 'a=1' })).toEqual({
      ...podBody(text, 0),
      name: 'pod',
    })
  })

  it('shows the messages of a refusal beside its fields', () => {
    const errors = [
      "$: missing property 'image'",
      '$.gpu.count: want at least 1',
      "$.mounts.network[0]: missing property 'path'",
      'nothing fits',
    ]
    const refused = { status: 422, headers: new Headers() }
    const said = fieldErrors(new ApiError('POST /v2/pods', refused, JSON.stringify({ detail: 'no', errors })))
    expect(['image', 'gpu.count', 'gpu', 'mounts.network', 'name'].map(said.of)).toEqual([
      'This is required.',
      'want at least 1',
      'want at least 1',
      'This is required.',
      undefined,
    ])
    expect(said.others(['image', 'gpu', 'mounts'])).toEqual(['nothing fits'])
  })
})

describe('[UI-22] names with values and ports, as they are typed', () => {
  it('come back as they were written, lines and quotes too', () => {
    const env = { A: '1', KEY: 'two\nlines', QUOTED: '"x"', EMPTY: '', WITH: 'a=b' }
    expect(readEnv(writeEnv(env))).toEqual({ ok: true, value: env })
    expect(readEnv('A=1\n\nnonsense')).toEqual({ ok: false, problem: 'Line 3: enter NAME=value.' })
  })

  it('[LBL-7] labels are words, also in a filter', () => {
    const labels = { stage: '', team: 'research' }
    expect(readLabels(' team=research,\nstage ')).toEqual(labels)
    expect(readLabels(writeLabels(labels))).toEqual(labels)
    expect(splitLabels(' team=research,\nstage ')).toEqual(['team=research', 'stage'])
  })

  it('a bare port is one of HTTP', () => {
    expect(readPorts(' 8888, 22/tcp\n80/http ')).toEqual(['8888/http', '22/tcp', '80/http'])
  })
})

describe('[UI-23] settings of a pod', () => {
  it('send only the differences, and know which of them replace the container', () => {
    const before = settingsText(POD)
    expect(changesOf(before, before)).toEqual({})
    expect(changesOf({ ...before, labels: '' }, before)).toEqual({ labels: {} })
    const named = changesOf({ ...before, name: 'other', locked: true }, before)
    expect([named, needsNewContainer(named)]).toEqual([{ name: 'other', locked: true }, false])
    const changed = changesOf({ ...before, persistentGb: '30', container: { ...before.container, ports: '', registry: 'r1' } }, before)
    expect([changed, needsNewContainer(changed)]).toEqual([
      { ports: [], registry: 'r1', mounts: { persistent: { size: 30, path: '/workspace' } } },
      true,
    ])
  })
})

describe('[UI-24] a terminal', () => {
  it('sends frames that a pod reads, and reads the frames of a pod', () => {
    expect(decodeChannel(typed('ls\r'))).toEqual({ channel: 'stdin', bytes: new TextEncoder().encode('ls\r') })
    expect(decodeChannel(resized(30, 100))).toEqual({ channel: 'resize', rows: 30, cols: 100 })
    const bytes = new TextEncoder().encode('file')
    expect(heard(encodeChannel({ channel: 'stdout', bytes }))).toEqual({ kind: 'output', bytes })
    expect(heard(encodeChannel({ channel: 'status', status: exited(5) }))).toEqual({
      kind: 'ended',
      message: 'The shell ended with exit code 5.',
    })
    expect(protocolsFor('acc')).toEqual(['v5.channel.k8s.io', 'account.podplane.acc'])
  })
})

/** A socket that the test opens, and closes like a plane that went away. */
class FakeSocket extends EventTarget {
  static newest: FakeSocket
  binaryType = 'blob'
  readyState = 0
  constructor() {
    super()
    FakeSocket.newest = this
  }
  happens(type: string, more: object = {}): void {
    this.dispatchEvent(Object.assign(new Event(type), more))
  }
}

describe('[UI-57] a terminal whose plane is gone', () => {
  it.each([
    { wasOpen: true, words: /^The connection to the plane is lost, and the shell with it\. .* connect again for a new shell\.$/ },
    { wasOpen: false, words: /^The shell did not open: .* Connect again in a moment\.$/ },
  ])('explains the cause and the next step, open before: $wasOpen', ({ wasOpen, words }) => {
    vi.stubGlobal('WebSocket', FakeSocket)
    const said: [ShellState, string][] = []
    new Shell(new URL('ws://plane/v2/pods/p/exec'), null, { onOutput: () => undefined, onState: (...one) => said.push(one) })
    if (wasOpen) FakeSocket.newest.happens('open')
    FakeSocket.newest.happens('close', { reason: '' })
    vi.unstubAllGlobals()
    expect(said.at(-1)).toEqual(['ended', expect.stringMatching(words)])
  })
})

describe('[UI-12] the address of an HTTP port', () => {
  const there = { protocol: 'https:', hostname: 'plane.example.com', origin: 'https://plane.example.com' }
  const here = { protocol: 'http:', hostname: '127.0.0.1', origin: 'http://127.0.0.1:8787' }

  it.each([
    ['no domain', null, there, 'https://plane.example.com/proxy/p1/8888/'],
    ['a domain', 'pods.example.com', there, 'https://p1-8888.pods.example.com/'],
    ['of this machine', 'localhost:8787', here, 'http://p1-8888.localhost:8787/'],
    ['of another machine', 'localhost:8787', there, 'https://plane.example.com/proxy/p1/8888/'],
  ])('%s', (_name, domain, place, address) => {
    expect(portAddress('p1', '8888', domain, place)).toBe(address)
  })
})
