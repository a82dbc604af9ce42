import { describe, expect, it } from 'vitest'
import { clusterBody, EMPTY_CLUSTER, missingOfCluster } from '../../src/console/pages/clusters/cluster-form.ts'
import { attentionOf, type Overview } from '../../src/console/pages/home/attention.ts'
import { createBody, EMPTY_TEMPLATE, templateText, updateBody } from '../../src/console/pages/resources/template-form.ts'
import { SpendItem } from '../../src/contract/billing/spending.ts'
import { Cluster } from '../../src/contract/clusters/clusters.ts'
import { Endpoint } from '../../src/contract/endpoints/endpoints.ts'
import { POD_EXAMPLE } from '../../src/contract/pods/pod-example.ts'
import { Pod } from '../../src/contract/pods/pods.ts'
import { Template } from '../../src/contract/resources/templates.ts'

const exampleOf = <Type>(schema: { meta(): Record<string, unknown> | undefined; parse(value: unknown): Type }) =>
  schema.parse(schema.meta()?.example)

const POD = Pod.parse(POD_EXAMPLE)
const ENDPOINT = exampleOf(Endpoint)
const CLUSTER = exampleOf(Cluster)
const TEMPLATE = exampleOf(Template)
const SPEND = exampleOf(SpendItem)

describe('[UI-27] the list of resources that need attention', () => {
  const nowMs = Date.parse('2026-06-02T12:00:00Z')
  const podCounts: Overview['podCounts'] = { total: 1, byStatus: { RUNNING: 1 }, reasons: [] }
  const quiet: Overview = {
    pods: { first: [POD], total: 1 },
    podCounts,
    endpoints: { first: [ENDPOINT], total: 1 },
    clusters: [CLUSTER],
    queues: new Map(),
    spend: [SPEND],
    nowMs,
  }
  const reason = (status: 'ERROR' | 'PROVISIONING', text: string, size: number, podName: string) => ({
    status,
    reason: text,
    count: size,
    podId: podName,
    podName,
  })
  const jobs = { completed: 0, failed: 0, inProgress: 0, inQueue: 3, retried: 0 }
  const workers = { idle: 0, initializing: 0, ready: 0, running: 0, throttled: 1, unhealthy: 0 }

  it('is empty while everything is well', () => {
    expect(attentionOf(quiet)).toEqual([])
  })

  it('has failures first, then resources that wait or cost money without use', () => {
    const found = attentionOf({
      ...quiet,
      podCounts: {
        total: 2,
        byStatus: { ERROR: 1, PROVISIONING: 1 },
        reasons: [reason('ERROR', 'image not found', 1, 'broken'), reason('PROVISIONING', 'no host has room', 1, 'waits')],
      },
      queues: new Map([[ENDPOINT.id, { jobs, workers }]]),
      clusters: [{ ...CLUSTER, pods: { total: 3, byStatus: { ERROR: 1, RUNNING: 2 } } }],
      spend: [
        { ...SPEND, id: 'p3', name: 'idle', idleCount: 1, idleSince: '2026-06-02T11:13:00Z', idleWaste: 0.34 },
        { ...SPEND, id: 'e5', name: 'kept', runningCount: 3, idleCount: 2, idleSince: '2026-06-02T11:00:00Z', idleWaste: 1 },
        { ...SPEND, id: 'p4', name: 'just idle', idleCount: 1, idleSince: '2026-06-02T11:55:00Z', idleWaste: 0.01 },
      ],
    })
    expect(found.map(({ name, text: words, isBad }) => [name, words, isBad])).toEqual([
      ['broken', 'image not found', true],
      [CLUSTER.name, '1 member in ERROR', true],
      ['waits', 'no host has room', false],
      [ENDPOINT.name, '3 jobs in the queue, and no machine has room for a worker', false],
      ['idle', 'has been idle for 47 min: $0.34 wasted', false],
      ['kept', '2 of 3 have been idle for 1 h: $1.00 wasted', false],
    ])
  })
})

describe('[UI-81] failures of pods on Home', () => {
  const nowMs = Date.parse('2026-06-02T12:00:00Z')
  const none = { pods: { first: [], total: 0 }, endpoints: { first: [], total: 0 }, clusters: [], queues: new Map(), spend: [], nowMs }
  const linesOf = (byStatus: Record<string, number>, sizes: readonly number[]) => {
    const reasons = sizes.map((count, n) => ({ status: 'ERROR' as const, reason: `r${n}`, count, podId: `id${n}`, podName: `p${n}` }))
    const lines = attentionOf({ ...none, podCounts: { total: 0, byStatus, reasons } })
    return lines.map(({ name, text, to, isBad }) => [name, text, to, isBad])
  }

  it('are one line for each reason', () => {
    expect(linesOf({ ERROR: 1_001 }, [1_000, 1])).toEqual([
      ['1,000 pods', 'r0', '/console/pods?state=ERROR', true],
      ['p1', 'r1', '/console/pods/id1', true],
    ])
  })

  it('are at most five lines, and one with the number of the others', () => {
    expect(linesOf({ ERROR: 10_000 }, [9, 8, 7, 6, 5, 4, 3]).map(([name, text]) => [name, text])).toEqual([
      ['9 pods', 'r0'],
      ['8 pods', 'r1'],
      ['7 pods', 'r2'],
      ['6 pods', 'r3'],
      ['5 pods', 'r4'],
      ['9,965 more pods', 'failed'],
    ])
    expect(linesOf({ ERROR: 2 }, [])).toEqual([['2 pods', 'failed', '/console/pods?state=ERROR', true]])
  })
})

describe('[UI-29] a new cluster', () => {
  it('is requested as it is typed, without empty fields', () => {
    const container = { ...EMPTY_CLUSTER.container, image: 'train:1', registry: 'r1' }
    const text = {
      ...EMPTY_CLUSTER,
      name: 'sft',
      gpuTypeId: 'NVIDIA L4',
      podCount: '3',
      container,
      networkVolumeId: 'v1',
      isReplaced: true,
    }
    expect(missingOfCluster(EMPTY_CLUSTER)).toBe('Choose the GPU type of the members.')
    expect(missingOfCluster(text)).toBeUndefined()
    expect(clusterBody(text)).toEqual({
      name: 'sft',
      type: 'TRAINING',
      compute: { gpuTypeId: 'NVIDIA L4', gpuCountPerPod: 1, podCount: 3 },
      image: 'train:1',
      mounts: { network: [{ volumeId: 'v1', path: '/workspace' }] },
      startSsh: true,
      onHostLoss: 'REPLACE',
    })
  })
})

describe('a template', () => {
  it('[UI-23] is saved by sending only the differences', () => {
    const before = templateText(TEMPLATE)
    expect(updateBody(before, before)).toEqual({})
    const text = { ...before, persistentGb: '', public: true, container: { ...before.container, env: 'A=1' } }
    expect(updateBody(text, before)).toEqual({ mounts: {}, public: true, env: { A: '1' } })
    const blank = { ...EMPTY_TEMPLATE, name: 'new', startJupyter: false, container: { ...EMPTY_TEMPLATE.container, image: 'a:1' } }
    expect(createBody(blank)).toEqual({ name: 'new', image: 'a:1', startJupyter: false })
  })
})
