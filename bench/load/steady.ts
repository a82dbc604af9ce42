import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, HttpConnection } from './http-connection.ts'

/** A load of requests that are sent whether or not earlier ones were answered. */
export interface SteadyLoad {
  url: string
  perSecond: number
  seconds: number
  /** Sends one request on a connection without another one. */
  ask(connection: HttpConnection): Promise<Answer>
}

/** Returns the milliseconds from each send to its answer: a closed loop would hide the time that requests wait for each other. */
export async function measureSteady({ url, perSecond, seconds, ask }: SteadyLoad): Promise<number[]> {
  const idle: HttpConnection[] = []
  const delays: number[] = []
  const send = async () => {
    const connection = idle.pop() ?? (await HttpConnection.open(url))
    const sentAt = performance.now()
    const answer = await ask(connection)
    delays.push(performance.now() - sentAt)
    idle.push(connection)
    if (answer.status !== 200) throw new Error(`a request was answered ${answer.status}: ${answer.body}`)
  }
  const pending: Promise<void>[] = []
  const startedAt = performance.now()
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const due = startedAt + (index * 1000) / perSecond
    while (performance.now() < due) await sleep(Math.max(0, due - performance.now()))
    const answered = send()
    // Handled below; a failure before then would end the process.
    answered.catch(() => undefined)
    pending.push(answered)
  }
  await Promise.all(pending)
  for (const connection of idle) connection.close()
  return delays
}
