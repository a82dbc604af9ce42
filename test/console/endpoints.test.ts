import { describe, expect, it } from 'vitest'
import { verdictOf } from '../../src/console/pages/endpoints/health.tsx'
import { eventsBefore, eventText, timeOf } from '../../src/console/pages/endpoints/history/moments.ts'
import { EMPTY_ENDPOINT, endpointBody, missingOf, takenFrom } from '../../src/console/pages/endpoints/new/new-endpoint-form.ts'
import { rollbackTo } from '../../src/console/pages/endpoints/releases/rollback.ts'
import { settingsChanges, settingsProblem, settingsText } from '../../src/console/pages/endpoints/settings/settings-form.ts'
import { chatText, readInput } from '../../src/console/pages/endpoints/try/try-input.ts'
import { bulkRequest, listQuery, resultsOf } from '../../src/console/pages/jobs/bulk/chosen-jobs.ts'
import { cancelOff, retryOff } from '../../src/console/pages/jobs/job-acts.ts'
import { costText, sharesOf } from '../../src/console/pages/jobs/phases.ts'
import { type EnvRow, rowProblem, withRow } from '../../src/console/parts/env/env-rows.ts'
import type { Endpoint } from '../../src/contract/endpoints/endpoints.ts'
import type { Release } from '../../src/contract/endpoints/releases.ts'
import type { JobBulk } from '../../src/contract/jobs/bulk.ts'

const release = (version: number, diff: Release['diff']): Release => ({
  id: String(version),
  version,
  source: 'MANUAL',
  buildId: null,
  createdByUserId: null,
  workerCount: 0,
  createdAt: '2026-06-01T12:00:00Z',
  diff,
})

describe('[UI-44] going back to a release', () => {
  const releases = [
    release(4, [
      { field: 'template.imageName', old: 'acme/model:2', new: 'acme/model:3' },
      { field: 'workers.max', old: 3, new: 5 },
    ]),
    release(3, [
      { field: 'gpuPools', old: ['ADA_24'], new: ['HOPPER_141'] },
      { field: 'minCudaVersion', old: null, new: '12.8' },
      { field: 'template.env', old: { A: 'hmac-sha256:x' }, new: {} },
    ]),
    release(2, [{ field: 'template.imageName', old: 'acme/model:1', new: 'acme/model:2' }]),
    release(1, []),
  ]

  it('undoes every later release, with the values that held then', () => {
    expect(rollbackTo(3, releases)).toEqual({ body: { image: 'acme/model:2' }, lost: [] })
    expect(rollbackTo(1, releases)).toEqual({
      body: { image: 'acme/model:1', gpu: { pools: ['ADA_24'], minCudaVersion: '' } },
      lost: ['template.env'],
    })
  })

  it('asks for nothing when it is the newest', () => {
    expect(rollbackTo(4, releases)).toEqual({ body: {}, lost: [] })
  })
})

describe('[UI-45] settings of an endpoint', () => {
  const endpoint = {
    name: 'echo',
    image: 'acme/echo:1',
    workers: { min: 0, max: 3, idleTimeout: 5 },
    scaling: { type: 'QUEUE_DELAY', queueDelay: 4 },
    timeout: 600_000,
    env: { MODEL: 'small', TOKEN: '{{ RUNPOD_SECRET_HF }}' },
  } as unknown as Endpoint
  const before = settingsText(endpoint)

  it('the request has only the members that differ', () => {
    expect(settingsChanges(before, before)).toEqual({})
    const text = { ...before, max: '10', scaler: 'REQUEST_COUNT' as const, scalerValue: '2', timeoutSeconds: '30' }
    const body = settingsChanges(text, before)
    expect(body).toEqual({ workers: { max: 10 }, scaling: { type: 'REQUEST_COUNT', requestCount: 2 }, timeout: 30_000 })
  })
})

describe('[UI-55] variables of an endpoint', () => {
  const env = { MODEL: 'small', TOKEN: '{{ RUNPOD_SECRET_HF }}', PEM: 'a\nb' }
  const before = settingsText({ env, workers: {}, scaling: {} } as unknown as Endpoint)
  const changed = (rows: readonly EnvRow[]) => settingsChanges({ ...before, env: rows }, before)

  it('come back as they were, secrets by their name', () => {
    expect(before.env.map(({ name, kind, text }) => [name, kind, text])).toEqual([
      ['MODEL', 'value', 'small'],
      ['TOKEN', 'secret', 'HF'],
      ['PEM', 'value', 'a\nb'],
    ])
    expect(changed(before.env)).toEqual({})
    expect(changed([...before.env].reverse())).toEqual({})
  })

  it('are added, changed and removed; the others are sent unchanged', () => {
    const [model, token] = before.env as [EnvRow, EnvRow]
    const added = withRow([{ ...model, text: 'large' }, token]).map((row) => (row.name === '' ? { ...row, name: 'NEW', text: '' } : row))
    const body = changed(added)
    expect(body).toEqual({ env: { MODEL: 'large', TOKEN: '{{ RUNPOD_SECRET_HF }}', NEW: '' } })
  })

  it('are named when they cannot be sent', () => {
    const row = (key: number, name: string, kind: EnvRow['kind'] = 'value') => ({ key, name, kind, text: '' })
    const rows = [row(0, 'A'), row(1, 'A'), row(2, '1A'), row(3, ''), row(4, 'B', 'secret')]
    expect(rows.map((one) => rowProblem(one, rows) !== undefined)).toEqual([false, true, true, true, true])
    expect([settingsProblem({ ...before, env: rows }), changed(rows)]).toEqual(['A: This name is used already.', {}])
  })
})

describe('[UI-46] trying an endpoint', () => {
  it('an input is a JSON object', () => {
    expect(readInput('{"a":[1]}')).toEqual({ ok: true, input: { a: [1] } })
    expect(['[1]', 'null', '"a"', '{'].map((text) => readInput(text).ok)).toEqual([false, false, false, false])
  })

  it('the text of a chat arrives whole or in pieces, and a failure is shown', () => {
    const events = [
      '{"choices":[{"delta":{"role":"assistant"}}]}',
      '{"choices":[{"delta":{"content":"Pa"}}]}',
      '{"choices":[{"message":{"content":"ris"}}]}',
      '{"choices":[]}',
      '[DONE]',
    ]
    expect(events.map(chatText)).toEqual([undefined, 'Pa', 'ris', undefined, undefined])
    expect(() => chatText('{"error":{"message":"no such model"}}')).toThrow('no such model')
  })
})

describe('[UI-47] the possible actions are named', () => {
  it('jobs by their state', () => {
    const states = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']
    expect(states.filter((state) => cancelOff(state) === undefined)).toEqual(['IN_QUEUE', 'IN_PROGRESS'])
    expect(states.filter((state) => retryOff(state) === undefined)).toEqual(['FAILED', 'TIMED_OUT'])
  })

  it('the state of an endpoint in one word', () => {
    const none = { idle: 0, initializing: 0, running: 0, throttled: 0, unhealthy: 0 }
    const word = (workers: Partial<typeof none>, inQueue = 0) =>
      verdictOf({ jobs: { inQueue, inProgress: 0 }, workers: { ...none, ...workers } }).word
    expect([
      word({}),
      word({ idle: 1 }),
      word({ running: 1 }, 3),
      word({ initializing: 1 }, 1),
      word({ throttled: 1 }, 1),
      word({ unhealthy: 1, initializing: 1 }),
      word({ unhealthy: 1, running: 1 }),
    ]).toEqual(['Scaled to zero', 'Ready', 'Busy', 'Starting', 'No capacity', 'Unhealthy', 'Ready'])
  })
})

describe('[UI-51] many jobs that are changed at once', () => {
  const nowMs = Date.parse('2026-06-02T12:00:00Z')
  it('are those that the list shows, on all of its pages', () => {
    const any = { status: '', span: '', idStart: '' }
    const failed = { status: 'FAILED', span: '24h', idStart: 'ab' }
    expect([listQuery(any, nowMs), listQuery(failed, nowMs)]).toEqual([
      {},
      { status: 'FAILED', from: '2026-06-01T12:00:00.000Z', id: 'ab' },
    ])
    expect(bulkRequest(any, nowMs, null)).toEqual({ status: ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'] })
    expect(bulkRequest(failed, nowMs, ['ab1'])).toEqual({ status: ['FAILED'], from: '2026-06-01T12:00:00.000Z', ids: ['ab1'] })
  })

  it('report the outcome of each', () => {
    const left = [
      { id: 'b', status: 'COMPLETED' as const, reason: 'it is over' },
      { id: 'z', status: null, reason: 'there is no such job' },
    ]
    const bulk = { action: 'cancel', status: 'DONE', ids: ['a', 'b'], left } as JobBulk
    expect(resultsOf(bulk)).toEqual([
      { id: 'a', result: 'cancelled' },
      { id: 'b', result: 'unchanged: it is over' },
      { id: 'z', result: 'unchanged: there is no such job' },
    ])
    expect(resultsOf({ ...bulk, status: 'RUNNING', left: [] }).map(({ result }) => result)).toEqual([null, null])
  })
})

describe('[UI-48] a new endpoint', () => {
  const container = { ...EMPTY_ENDPOINT.container, image: ' acme/model:1 ' }
  it('sends the typed fields, and leaves the rest to the plane', () => {
    const text = { ...EMPTY_ENDPOINT, name: 'model', container, pool: 'ADA_24' }
    expect(endpointBody(text)).toEqual({
      name: 'model',
      type: 'QUEUE',
      image: 'acme/model:1',
      gpu: { pools: ['ADA_24'], count: 1 },
      workers: { min: 0, max: 3, idleTimeout: 5 },
      scaling: { type: 'QUEUE_DELAY', queueDelay: 4 },
    })
    const served = { ...text, type: 'LOAD_BALANCER' as const, scaler: 'REQUEST_COUNT' as const, kind: 'cpu' as const, cpuId: 'cpu3c' }
    expect(endpointBody(served)).toEqual({
      name: 'model',
      type: 'LOAD_BALANCER',
      image: 'acme/model:1',
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      workers: { min: 0, max: 3 },
      scaling: { type: 'REQUEST_COUNT', requestCount: 4 },
    })
  })

  it('[DRY-19] takes the members that an option of its dry run changes, and nothing else', () => {
    const text = { ...EMPTY_ENDPOINT, name: 'model', container, pool: 'ADA_24' }
    const gpu = { count: 1, pools: ['ADA_24', 'AMPERE_24'] }
    const other = { ...endpointBody(text), name: 'endpoint', gpu, dataCenterIds: ['EU-CZ-1'] }
    const taken = takenFrom(text, other)
    expect(taken).toEqual({ gpu, dataCenterIds: ['EU-CZ-1'] })
    expect(endpointBody({ ...text, taken })).toEqual({ ...other, name: 'model' })
    expect(takenFrom(text, { ...endpointBody(text), name: 'endpoint', gpu: { count: 1, pools: ['ADA_24'] } })).toEqual({})
  })

  it('names the missing fields', () => {
    const steps = [{}, { name: 'a' }, { container }, { pool: 'ADA_24' }]
    const texts = steps.map((_, index) => Object.assign({}, EMPTY_ENDPOINT, ...steps.slice(0, index + 1)))
    expect(texts.map(missingOf)).toEqual(['Enter a name.', 'Enter an image.', 'Choose a GPU.', undefined])
  })
})

describe('[UI-49] the time line of a job', () => {
  const phase = (name: 'QUEUED' | 'RUNNING', ms: number) => ({ phase: name, from: '', to: '', ms })
  it('phases fill the bar, and the shortest is visible', () => {
    expect(sharesOf([phase('QUEUED', 1_000), phase('RUNNING', 3_000)])).toEqual([
      { phase: 'QUEUED', share: 0.25 },
      { phase: 'RUNNING', share: 0.75 },
    ])
    const [short] = sharesOf([phase('QUEUED', 1), phase('RUNNING', 1_000_000)])
    expect(short?.share).toBeGreaterThan(0.009)
    expect(sharesOf([phase('RUNNING', 0)])).toEqual([{ phase: 'RUNNING', share: 1 }])
  })

  it('a small cost is not shown as zero', () => {
    expect([0, 0.000_008, 0.02].map(costText)).toEqual(['$0.00', 'less than $0.0001', '$0.02'])
  })
})

describe('[UI-50] the history of an endpoint', () => {
  const event = { kind: 'WORKER' as const, workerId: 'w1', phase: 'READY' as const, reason: null, release: 1, decision: null }
  const timeline = {
    from: '2026-06-01T12:00:00.000Z',
    step: 60,
    events: ['12:05:00', '12:01:30', '12:00:10'].map((at) => ({ ...event, at: `2026-06-01T${at}.000Z` })),
  }

  it('a moment lists the events that led to it, newest first', () => {
    expect(new Date(timeOf(timeline, 2)).toISOString()).toBe('2026-06-01T12:02:00.000Z')
    expect(eventsBefore(timeline, 1, 5).map(({ at }) => at.slice(11, 19))).toEqual(['12:01:30', '12:00:10'])
    expect(eventsBefore(timeline, 9, 1).map(({ at }) => at.slice(11, 19))).toEqual(['12:05:00'])
  })

  it('describes each event in words', () => {
    const words = [
      event,
      { ...event, phase: 'GONE' as const, reason: 'its host is lost' },
      { ...event, kind: 'RELEASE' as const, release: 3 },
    ]
    expect(words.map((one) => eventText({ ...one, at: '' }))).toEqual([
      'Worker w1 became ready',
      'Worker w1 became gone: its host is lost',
      'Release 3 became active',
    ])
  })
})
