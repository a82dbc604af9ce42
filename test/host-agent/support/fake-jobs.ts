import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'

export interface JobPost {
  verb: string
  jobId: string
  body: unknown
  query: URLSearchParams
  authorization: string | undefined
  contentType: string | undefined
}

/** The worker routes of a plane, as far as needed to give a worker jobs and to record its requests. */
export class FakeJobs {
  readonly posts: JobPost[] = []
  readonly pings: URLSearchParams[] = []
  readonly takes: URLSearchParams[] = []
  private readonly queue: { id: string; input: unknown }[] = []
  private readonly waiting: { response: ServerResponse; batch: boolean }[] = []
  private readonly stops: string[] = []
  private readonly stopPolls: ServerResponse[] = []
  holdMs = 25_000

  submit(id: string, input: unknown): void {
    this.queue.push({ id, input })
    const next = this.waiting.shift()
    if (next !== undefined) this.give(next.response, next.batch)
  }

  stop(id: string): void {
    this.stops.push(id)
    const poll = this.stopPolls.shift()
    if (poll !== undefined) answer(poll, 200, { jobsToStop: this.stops.splice(0) })
  }

  result(jobId: string): JobPost | undefined {
    return this.posts.find((post) => post.verb === 'job-done' && post.jobId === jobId && !isProgress(post.body))
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://plane')
    const [, , , verb = '', , jobId = ''] = url.pathname.split('/')
    if (verb === 'ping') {
      this.pings.push(url.searchParams)
      return answer(response, 200, {})
    }
    if (verb === 'job-take' || verb === 'job-take-batch') return this.take(url.searchParams, verb === 'job-take-batch', response)
    if (verb === 'job-stop') return this.pollStop(response)
    const { authorization, 'content-type': contentType } = request.headers
    this.posts.push({ verb, jobId, body: await json(request), query: url.searchParams, authorization, contentType })
    answer(response, 200, {})
  }

  private take(query: URLSearchParams, batch: boolean, response: ServerResponse): void {
    this.takes.push(query)
    if (this.queue.length > 0) {
      this.give(response, batch)
      return
    }
    const entry = { response, batch }
    this.waiting.push(entry)
    const leave = () => {
      const index = this.waiting.indexOf(entry)
      if (index >= 0) this.waiting.splice(index, 1)
    }
    response.on('close', leave)
    setTimeout(() => {
      leave()
      if (!response.writableEnded) response.writeHead(204).end()
    }, this.holdMs).unref()
  }

  private give(response: ServerResponse, batch: boolean): void {
    const jobs = this.queue.splice(0, 1)
    answer(response, 200, batch ? jobs : jobs[0])
  }

  private pollStop(response: ServerResponse): void {
    if (this.stops.length > 0) {
      answer(response, 200, { jobsToStop: this.stops.splice(0) })
      return
    }
    this.stopPolls.push(response)
    response.on('close', () => {
      const index = this.stopPolls.indexOf(response)
      if (index >= 0) this.stopPolls.splice(index, 1)
    })
  }
}

function isProgress(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'status' in body && body.status === 'IN_PROGRESS'
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
