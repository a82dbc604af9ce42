/** A profile of the inspector protocol, as far as it is read here. */
export interface CpuProfile {
  nodes: readonly { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: readonly number[]
  /** Microseconds before each sample. */
  timeDeltas: readonly number[]
}

const NOT_WORK = new Set(['(root)', '(idle)'])

/** Time in each function without the functions that it calls, microseconds, longest first. Idle time is left out. */
export function selfTimes({ nodes, samples, timeDeltas }: CpuProfile): { where: string; us: number }[] {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const place = url === '' ? '' : ` ${url.split('/').at(-1)}:${lineNumber + 1}`
      return [id, `${functionName || '(anonymous)'}${place}`]
    }),
  )
  const times = new Map<string, number>()
  for (const [at, id] of samples.entries()) {
    const name = names.get(id) ?? '(unknown)'
    if (!NOT_WORK.has(name)) times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] ?? 0))
  }
  return [...times].map(([where, us]) => ({ where, us })).toSorted((a, b) => b.us - a.us)
}
