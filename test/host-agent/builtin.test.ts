import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { waitUntil } from '../support/time.ts'
import { FakePlane } from './support/fake-plane.ts'
import { workerEnv } from './support/workload.ts'

const ENTRY = join(import.meta.dirname, '../../src/host-agent/main.ts')

describe('built-in workers speak the worker protocol', () => {
  let plane: FakePlane
  let url: string
  let worker: ChildProcess | undefined

  beforeEach(async () => {
    plane = new FakePlane()
    url = await plane.listen()
  })
  afterEach(async () => {
    worker?.kill('SIGKILL')
    await plane.close()
  })

  function startWorker(name: 'echo' | 'probe', env: Record<string, string> = {}): Promise<number | null> {
    const child = spawn(process.execPath, [ENTRY, '__builtin', name], { env: { ...workerEnv('ep', 'w1', url), ...env }, stdio: 'inherit' })
    worker = child
    return once(child, 'exit').then(([code]) => code)
  }

  test('echo: pings from the start, takes one by one, posts its input raw-keyed as form-typed JSON', async ({ expect }) => {
    void startWorker('echo')
    await waitUntil('ping', () => plane.jobs.pings.length > 0)
    plane.jobs.submit('j1', { a: [1] })
    const post = await waitUntil('result', () => plane.jobs.result('j1'))
    expect(post).toMatchObject({ body: { output: { a: [1] } }, authorization: 'ppw_test_worker_key' })
    expect(post.contentType).toBe('application/x-www-form-urlencoded')
    expect(Object.fromEntries(post.query)).toEqual({ gpu: 'NVIDIA L4', boot: 'b1', isStream: 'false' })
    expect(Object.fromEntries(plane.jobs.takes[0] ?? [])).toEqual({ gpu: 'NVIDIA L4', boot: 'b1', job_in_progress: '0' })
  })

  test('[OAI-16] echo: answers a chat with its last message, as a stream on request', async ({ expect }) => {
    void startWorker('echo')
    const messages = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'good  day' },
    ]
    const call = { openai_route: '/v1/chat/completions', openai_input: { model: 'm', messages } }
    plane.jobs.submit('whole', call)
    plane.jobs.submit('stream', { ...call, openai_input: { ...call.openai_input, stream: true } })
    plane.jobs.submit('none', { ...call, openai_input: { messages: [] } })
    await waitUntil('all results', () => plane.jobs.result('none'))
    expect(plane.jobs.result('whole')?.body).toMatchObject({
      output: {
        object: 'chat.completion',
        model: 'm',
        choices: [{ message: { role: 'assistant', content: 'good  day' }, finish_reason: 'stop' }],
      },
    })
    const chunks = plane.jobs.posts.filter(({ verb, jobId }) => verb === 'job-stream' && jobId === 'stream')
    const texts = chunks.map(({ body }) => (body as { output: string }).output)
    const words = texts.map((text) => (text.includes('[DONE]') ? text : JSON.parse(text.slice('data: '.length)).choices[0].delta.content))
    expect(words).toEqual(['good  ', 'day', undefined, 'data: [DONE]\n\n'])
    expect(plane.jobs.result('none')?.body).toEqual({ output: { ...call, openai_input: { messages: [] } } })
  })

  test('[HOST-92][H10] probe: chunks, progress, bounded bytes, failure and the default output', async ({ expect }) => {
    void startWorker('probe')
    plane.jobs.submit('chunks', { chunks: 3, chunkMs: 5, progress: ['a', 'b'] })
    plane.jobs.submit('bytes', { bytes: 10 })
    plane.jobs.submit('many', { bytes: 2 ** 20 + 1 })
    plane.jobs.submit('fail', { fail: 'no luck' })
    plane.jobs.submit('plain', { anything: 1 })
    await waitUntil('all results', () => plane.jobs.result('plain'))
    const bodies = (verb: string, id: string) =>
      plane.jobs.posts.filter((post) => post.verb === verb && post.jobId === id).map((post) => post.body)
    expect(bodies('job-stream', 'chunks')).toEqual([0, 1, 2].map((chunk) => ({ output: { chunk } })))
    expect(bodies('job-done', 'chunks')).toEqual([
      { status: 'IN_PROGRESS', output: 'a' },
      { status: 'IN_PROGRESS', output: 'b' },
      { output: [] },
    ])
    expect(bodies('job-done', 'bytes')).toEqual([{ output: { data: 'xxxxxxxxxx' } }])
    // [H10] Several copies of an output are in memory, outside any container.
    expect(bodies('job-done', 'many')).toEqual([{ error: expect.stringMatching(/^builtin\/probe cannot read its input: /) }])
    expect(bodies('job-done', 'fail')).toEqual([{ error: 'no luck' }])
    expect(bodies('job-done', 'plain')).toEqual([{ output: { ok: true, input: { anything: 1 } } }])
  })

  test('probe: a stopped job posts nothing and the next one is taken; the running one is listed in pings', async ({ expect }) => {
    void startWorker('probe')
    plane.jobs.submit('slow', { sleepMs: 60_000 })
    await waitUntil('ping that lists the job', () => plane.jobs.pings.some((ping) => ping.get('job_id') === 'slow'))
    plane.jobs.stop('slow')
    plane.jobs.submit('next', {})
    await waitUntil('next', () => plane.jobs.result('next'))
    expect(plane.jobs.posts.map((post) => post.jobId)).toEqual(['next'])
  })

  test('probe: exit ends the process at once with that code', async ({ expect }) => {
    const exit = startWorker('probe')
    plane.jobs.submit('j1', { exit: 9 })
    expect(await exit).toBe(9)
    expect(plane.jobs.posts).toEqual([])
  })

  test('probe: with several slots it takes in batches and runs side by side', async ({ expect }) => {
    void startWorker('probe', { PROBE_CONCURRENCY: '3' })
    for (const id of ['a', 'b', 'c']) plane.jobs.submit(id, { sleepMs: 300 })
    await waitUntil('three at once', () => plane.jobs.pings.some((ping) => ping.get('job_id')?.split(',').length === 3))
    await waitUntil('results', () => ['a', 'b', 'c'].every((id) => plane.jobs.result(id)))
    expect(plane.jobs.takes[0]?.get('batch_size')).toBe('3')
  })

  test('SIGTERM lets the running job finish, takes no other and exits with 0', async ({ expect }) => {
    const exit = startWorker('probe')
    plane.jobs.submit('j1', { sleepMs: 700 })
    await waitUntil('job running', () => plane.jobs.pings.some((ping) => ping.get('job_id') === 'j1'))
    worker?.kill('SIGTERM')
    plane.jobs.submit('j2', {})
    expect(await exit).toBe(0)
    expect(plane.jobs.result('j1')).toBeDefined()
    expect(plane.jobs.result('j2')).toBeUndefined()
  })
})
