import { type Podplane, PodplaneError } from '@podplane/sdk'

/** Remembers which operations were called. */
export function remembering(plane: Podplane, called: Set<string>): Podplane {
  return new Proxy(plane, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      called.add(String(name))
      return member.bind(target)
    },
  })
}

/** The status with which a call is refused. */
export async function refused(call: Promise<unknown>): Promise<number> {
  try {
    await call
  } catch (error) {
    if (error instanceof PodplaneError && error.problem.status === error.status) return error.status
    throw error
  }
  throw new Error('it was not refused')
}

/** Whether a list holds a thing. */
export const holds = (list: readonly { id: string }[], { id }: { id: string }): boolean => list.some((one) => one.id === id)

/** Asks again until the answer is what it should be; the plane holds each answer for as long as it is asked to. */
export async function until<T>(ask: () => Promise<T>, right: (answer: T) => boolean): Promise<T> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const answer = await ask()
    if (right(answer)) return answer
  }
  throw new Error(`it never was ${right}`)
}

/** Whether a stream brings anything at first. It is left by its signal: nothing else ends a log that goes on. */
export async function begins(open: (signal: AbortSignal) => Promise<{ stream: AsyncGenerator<unknown> }>): Promise<boolean> {
  const leave = new AbortController()
  const { stream } = await open(leave.signal)
  const { done } = await stream.next()
  leave.abort()
  return done === false
}
