import { type Podplane, PodplaneError } from '@podplane/sdk'

/** Records which operations were called. */
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

/** Repeats a call until the answer is right; the plane holds each answer for the requested time. */
export async function until<T>(ask: () => Promise<T>, right: (answer: T) => boolean): Promise<T> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const answer = await ask()
    if (right(answer)) return answer
  }
  throw new Error(`it never was ${right}`)
}

/** Whether a stream begins with anything. It is ended by its signal: a log that continues ends in no other way. */
export async function begins(open: (signal: AbortSignal) => Promise<{ stream: AsyncGenerator<unknown> }>): Promise<boolean> {
  const leave = new AbortController()
  const { stream } = await open(leave.signal)
  const { done } = await stream.next()
  leave.abort()
  return done === false
}
